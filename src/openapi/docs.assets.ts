import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import swaggerUiPath from 'swagger-ui-dist/absolute-path.js';
import { Remembered } from './remembered.js';
import { digestOf, Resource } from './resource.js';

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const OURS = fileURLToPath(new URL('page', import.meta.url));
const ASSETS: Record<string, { folder: string; contentType: string }> = {
  'swagger-ui.css': { folder: swaggerUiPath(), contentType: STYLE },
  'swagger-ui-bundle.js': { folder: swaggerUiPath(), contentType: SCRIPT },
  'page.css': { folder: OURS, contentType: STYLE },
  'favicon.svg': { folder: OURS, contentType: 'image/svg+xml' },
};
for (const name of [
  'theme',
  'page',
  'reload',
  'accessible',
  'answers',
  'dialog',
  'document',
  'json-text',
  'key-storage',
  'layout',
  'quota',
]) {
  ASSETS[`${name}.js`] = { folder: OURS, contentType: SCRIPT };
}

/** What the page loads: read when it is first asked for, under a path that changes with any of it. */
@Injectable()
export class DocsAssets {
  private readonly loaded = new Remembered<'all', Map<string, Resource>>();

  /** The folder of all assets, without a slash at its end. */
  async path(): Promise<string> {
    return `/docs/assets/${await this.version()}`;
  }

  async version(): Promise<string> {
    const assets = await this.all();
    return digestOf(...[...assets.values()].map(({ etag }) => etag));
  }

  async find(name: string): Promise<Resource | undefined> {
    return (await this.all()).get(name);
  }

  private all(): Promise<Map<string, Resource>> {
    return this.loaded.get('all', loadAll);
  }
}

async function loadAll(): Promise<Map<string, Resource>> {
  const entries = Object.entries(ASSETS).map(async ([name, { folder, contentType }]) => {
    const resource = await Resource.of(contentType, () => readFile(join(folder, name)));
    return [name, resource] as const;
  });
  return new Map(await Promise.all(entries));
}
