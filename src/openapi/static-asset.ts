import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type ApiReply, type ApiRequest, appendHeader } from '../http/request-context.js';
import { memoizeAsync } from './memoize-async.js';

type Encoding = 'br' | 'gzip' | 'identity';
const CHUNK_BYTES = 65_536;
/** Above 8, brotli takes ten times as long for the last per cent. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } };

/**
 * A response body that does not change. Each encoding is compressed once, and all responses share its buffer: clients
 * that do not read cost no memory of their own. @fastify/compress and @fastify/etag would work on every request.
 */
export class StaticAsset {
  readonly etag: string;
  private readonly bodies: Record<Encoding, () => Promise<Buffer>>;

  constructor(
    private readonly contentType: string,
    body: Buffer | string,
  ) {
    const bytes = Buffer.from(body);
    this.etag = `W/"${digestOf(bytes)}"`;
    this.bodies = {
      br: memoizeAsync(() => promisify(brotliCompress)(bytes, BROTLI)),
      gzip: memoizeAsync(() => promisify(gzip)(bytes)),
      identity: () => Promise.resolve(bytes),
    };
  }

  /** Sends the asset, or 304 if the client has it already. */
  async send({ headers }: ApiRequest, reply: ApiReply): Promise<void> {
    reply.header('etag', this.etag);
    appendHeader(reply, 'vary', 'Accept-Encoding');
    if (matches(headers['if-none-match'], this.etag)) {
      void reply.code(304).send();
      return;
    }
    const encoding = encodingFor(headers['accept-encoding']);
    const body = await this.bodies[encoding]();
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply.header('content-length', body.length);
    void reply.type(this.contentType).send(inChunks(body));
  }
}

/** A large body in chunks, one per tick of the event loop, so that other requests are served in between. */
function inChunks(body: Buffer): Buffer | Readable {
  if (body.length <= CHUNK_BYTES) return body;
  let offset = 0;
  return new Readable({
    read() {
      setImmediate(() => {
        const chunk = body.subarray(offset, (offset += CHUNK_BYTES));
        this.push(chunk.length > 0 ? chunk : null);
      });
    },
  });
}

export function digestOf(...parts: readonly (Buffer | string)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url').slice(0, 16);
}

/** Weak comparison of `If-None-Match` (RFC 9110 section 13.1.2). */
function matches(field = '', etag: string): boolean {
  const tags = field.split(',').map((tag) => tag.trim().replace('W/', ''));
  return tags.includes('*') || tags.includes(etag.replace('W/', ''));
}

/** Prefers brotli to gzip, whatever the client prefers. An encoding with `q=0` is not acceptable. */
function encodingFor(field = ''): Encoding {
  const accepted = field.toLowerCase().replace(/[^,]*;\s*q=0(?:\.0*)?\s*(?=,|$)/g, '');
  return (
    (['br', 'gzip'] as const).find((name) => RegExp(`\\b${name}\\b`).test(accepted)) ?? 'identity'
  );
}
