import { readdir, readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { Scopes } from '../keys/scopes.js';
import { contentTypeOf } from '../openapi/docs.files.js';
import { StaticAsset } from '../openapi/static-asset.js';
import { Plans } from '../rate-limits/plan.js';

const FOLDER = new URL('console/', import.meta.url);

/** The files of the console, read on the first call. */
@Injectable()
export class ConsoleFiles {
  private files: Promise<ReadonlyMap<string, StaticAsset>> | undefined;

  constructor(
    private readonly scopes: Scopes,
    private readonly plans: Plans,
  ) {}

  async find(name: string): Promise<StaticAsset | undefined> {
    this.files ??= this.load();
    return (await this.files).get(name);
  }

  private async load(): Promise<ReadonlyMap<string, StaticAsset>> {
    const files = new Map<string, StaticAsset>();
    for (const name of await readdir(FOLDER)) {
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      files.set(name, new StaticAsset(contentTypeOf(name), this.complete(text)));
    }
    return files;
  }

  /** The page offers the plans and scopes of this server. */
  private complete(html: string): string {
    return html
      .replace('{{plans}}', this.plans.names.join(' '))
      .replace('{{scopes}}', Object.keys(this.scopes.declared).join(' '));
  }
}
