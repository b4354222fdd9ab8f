import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { notFound } from '../core/errors/errors.js';
import { type ApiReply, appendHeader } from '../core/http/request.js';
import { pathOf } from '../core/http/target.js';

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** An encoding with `q=0` is not acceptable (RFC 9110 section 12.5.3). */
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** Whether an `Accept` field gives Markdown at least the weight of HTML. */
function prefersMarkdown(accept: string): boolean {
  const [markdown, html] = ['markdown', 'html'].map((type) => {
    const entry = new RegExp(`\\btext/${type}\\s*(?:;\\s*q=([\\d.]+)|,|;|$)`, 'i').exec(accept);
    return entry === null ? 0 : Number(entry[1] ?? 1);
  });
  return markdown! > 0 && markdown! >= html!;
}

/** A response body that does not change. All responses share its bytes, compressed once. */
class StaticFile {
  private readonly bytes: Buffer;
  private readonly etag: string;
  private gzipped: Buffer | undefined;

  constructor(
    private readonly contentType: string,
    body: string,
  ) {
    this.bytes = Buffer.from(body);
    const digest = hash('sha256', body, 'base64url').slice(0, 16);
    this.etag = `W/"${digest}"`;
  }

  /** Sends the file, or 304 if the client has it already. */
  send(reply: ApiReply): void {
    const { headers } = reply.request;
    reply.headers({ etag: this.etag, 'cache-control': 'no-cache' });
    appendHeader(reply, 'vary', 'Accept-Encoding');
    if (headers['if-none-match']?.includes(this.etag)) return void reply.code(304).send();
    let body = this.bytes;
    if (ACCEPTS_GZIP.test(headers['accept-encoding'] ?? '')) {
      this.gzipped ??= gzipSync(this.bytes);
      body = this.gzipped;
      reply.header('content-encoding', 'gzip');
    }
    void reply.type(this.contentType).send(body);
  }
}

/** Content type and text of each path. */
export type Files = Record<string, readonly [contentType: string, text: string]>;

/**
 * Serves files from memory. They are made on the first request, so that a start is fast. Clients
 * that do not read cost neither memory nor file descriptors.
 */
export class StaticFiles {
  private files: Promise<ReadonlyMap<string, StaticFile>> | undefined;

  /** @param make called once, and after a failure again */
  constructor(private readonly make: () => Promise<Files>) {}

  /**
   * Sends the file at the path of the request, a guide as `Accept` prefers.
   * @throws {ApiError} 404 if there is none
   */
  async send(reply: ApiReply, headers: Record<string, string>): Promise<void> {
    this.files ??= this.load().catch((error: unknown) => {
      this.files = undefined;
      throw error;
    });
    const path = decodeURI(pathOf(reply.request.url)).replace(/\/$/, '');
    const files = await this.files;
    let file = files.get(path);
    if (file === undefined) throw notFound();
    const markdown = files.get(`${path.replace('/guides/', '/')}.md`);
    if (markdown) {
      appendHeader(reply, 'vary', 'Accept');
      if (prefersMarkdown(reply.request.headers.accept ?? '')) file = markdown;
    }
    file.send(reply.headers(headers));
  }

  private async load() {
    const files = Object.entries(await this.make());
    return new Map(files.map(([path, [type, text]]) => [path, new StaticFile(type, text)]));
  }
}

/** Reads text files, whose extensions decide their content types. @param at path of the folder */
export async function filesIn(folder: string, at: string, names?: readonly string[]) {
  const files: [string, Files[string]][] = [];
  for (const name of names ?? (await readdir(folder))) {
    const text = await readFile(join(folder, name), 'utf8');
    files.push([`${at}/${name}`, [CONTENT_TYPES[extname(name)]!, text]]);
  }
  return Object.fromEntries(files);
}
