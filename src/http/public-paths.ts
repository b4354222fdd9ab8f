import { type INestApplication, RequestMethod } from '@nestjs/common';
import { operationsOf } from './operations.js';
import { isPublic } from './request-context.js';

/** What has a meaning in a pattern of paths; here each path stands for itself, parameters and all. */
const PATTERN_CHARACTERS = /[:*{}()[\]+?!\\]/g;

/** The routes of all public controllers: everything else is below `/v1`. */
export function publicPaths(app: INestApplication): { path: string; method: RequestMethod }[] {
  return operationsOf(app)
    .filter(({ controller }) => isPublic(controller))
    .flatMap(({ method, paths }) =>
      paths.map((path) => ({
        path: path.replace(PATTERN_CHARACTERS, '\\$&'),
        method: RequestMethod[method],
      })),
    );
}
