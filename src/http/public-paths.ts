import { type INestApplication, RequestMethod } from '@nestjs/common';
import { operationsOf } from './operations.js';
import { isPublic } from './public.decorator.js';

/** Characters with a meaning in a path pattern. The exclusion list takes patterns, and each path stands for itself. */
const PATTERN_CHARACTERS = /[:*{}()[\]+?!\\]/g;

/** The routes of all public controllers; every other route is under `/v1`. */
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
