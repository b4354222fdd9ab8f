import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import swaggerUiPath from 'swagger-ui-dist/absolute-path.js';
import { memoizeAsync } from './memoize-async.js';
import { digestOf, StaticAsset } from './static-asset.js';

const CONTENT_TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const PAGE_FOLDER = fileURLToPath(new URL('page', import.meta.url));
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

/** Scripts, styles and images of the pages, read on the first request. Their path contains a digest of all of them. */
@Injectable()
export class DocsAssets {
  private readonly assets = memoizeAsync(loadAssets);

  /** The folder of all assets, without a slash at the end. */
  async path(): Promise<string> {
    return `/docs/assets/${await this.version()}`;
  }

  async version(): Promise<string> {
    const assets = await this.assets();
    return digestOf(...[...assets.values()].map(({ etag }) => etag));
  }

  async find(name: string): Promise<StaticAsset | undefined> {
    return (await this.assets()).get(name);
  }
}

async function loadAssets(): Promise<Map<string, StaticAsset>> {
  const paths = [
    ...SWAGGER_UI_FILES.map((name) => [name, join(swaggerUiPath(), name)] as const),
    ...(await readdir(PAGE_FOLDER)).map((name) => [name, join(PAGE_FOLDER, name)] as const),
  ];
  const assets = paths.map(async ([name, path]) => {
    const contentType = CONTENT_TYPES[extname(name)]!;
    return [name, new StaticAsset(contentType, await readFile(path))] as const;
  });
  return new Map(await Promise.all(assets));
}
