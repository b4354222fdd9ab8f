import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ApiReply, appendHeader } from '../http/request.js';

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** An encoding with `q=0` is not acceptable (RFC 9110 section 12.5.3). */
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/**
 * A response body that does not change. It is compressed once, and all responses share its buffers:
 * clients that do not read cost no memory of their own. @fastify/compress and @fastify/etag would
 * work on every request.
 */
export class StaticAsset {
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

  /** Reads a text file. Its extension decides its content type. */
  static async ofFile(path: string, complete = (text: string) => text) {
    const text = await readFile(path, 'utf8');
    return new StaticAsset(CONTENT_TYPES[extname(path)]!, complete(text));
  }

  /** Sends the asset, or 304 if the client has it already. */
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
