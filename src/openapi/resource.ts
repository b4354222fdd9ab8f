import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type ApiReply, type ApiRequest, appendHeader } from '../http/request-context.js';
import { Remembered } from './remembered.js';

type Encoding = 'br' | 'gzip' | 'identity';
/** Of brotli's 11: the last ones take ten times as long for the last per cent. */
const QUALITY = 8;
const compressors: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  gzip: (bytes) => promisify(gzip)(bytes),
  identity: (bytes) => Promise.resolve(bytes),
};

/** Bytes that stay as they are: compressed once for each encoding that somebody takes, and with an ETag. */
export class Resource {
  private readonly encoded = new Remembered<Encoding, Buffer>();

  private constructor(
    private readonly contentType: string,
    readonly etag: string,
    private readonly load: () => Promise<Buffer>,
  ) {}

  /** @param load is asked again where only the compressed bytes are worth remembering */
  static async of(contentType: string, load: () => Promise<Buffer>): Promise<Resource> {
    return new Resource(contentType, `W/"${digestOf(await load())}"`, load);
  }

  static ofText(contentType: string, text: string): Promise<Resource> {
    const bytes = Buffer.from(text);
    return Resource.of(contentType, () => Promise.resolve(bytes));
  }

  /** Sends it; without the body where the caller has it already. */
  async send(request: ApiRequest, reply: ApiReply): Promise<void> {
    reply.header('etag', this.etag);
    appendHeader(reply, 'vary', 'Accept-Encoding');
    if (matches(request.headers['if-none-match'], this.etag)) {
      void reply.code(304).send();
      return;
    }
    const encoding = encodingFor(request.headers['accept-encoding']);
    const body = await this.in(encoding);
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    void reply.type(this.contentType).send(body);
  }

  private in(encoding: Encoding): Promise<Buffer> {
    if (encoding === 'identity') return this.load();
    return this.encoded.get(encoding, () => this.load().then(compressors[encoding]));
  }
}

export function digestOf(...parts: readonly (Buffer | string)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url').slice(0, 16);
}

function matches(field: string | undefined, etag: string): boolean {
  const tags = field?.split(',').map((tag) => tag.trim()) ?? [];
  return tags.includes('*') || tags.some((tag) => tag.replace('W/', '') === etag.replace('W/', ''));
}

/** Brotli before gzip, if the caller takes it at all. */
function encodingFor(field = ''): Encoding {
  const taken = new Set<string>();
  for (const item of field.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) taken.add(name!);
  }
  return (['br', 'gzip'] as const).find((encoding) => taken.has(encoding)) ?? 'identity';
}
