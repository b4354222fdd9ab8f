import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { JsonDuplicateError, JsonLimitError, type JsonValue, parseJson } from './json.js';
import type { UnreadBody } from '../http/request-context.js';
import { invalidRequest, shown } from './validation.js';

/** 64 KiB: some hundred times the largest animal. */
const MAX_BODY_BYTES = 65_536;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** White space belongs to the parameter behind it, or else there are two ways to read it, and 2^n for n. */
const JSON_MEDIA_TYPE = new RegExp(
  `^application/json((?:[ \\t]*;(?:[ \\t]*${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?)*)[ \\t]*$`,
  'i',
);
const CHARSETS = /;[ \t]*charset=("?)([^";\s]*)\1/gi;

/**
 * Refuses a body by what its headers say of it, before one byte is read.
 * @throws {ApiError} 415 `unsupported_media_type`, 413 `payload_too_large`
 */
export function judgeBodyHeaders({ headers }: UnreadBody): void {
  const [, parameters] = JSON_MEDIA_TYPE.exec(headers['content-type'] ?? '') ?? [];
  if (parameters === undefined) {
    throw errors.unsupported_media_type('The body must be sent as application/json');
  }
  for (const [, , charset] of parameters.matchAll(CHARSETS)) {
    if (charset?.toLowerCase() !== 'utf-8') {
      throw errors.unsupported_media_type('The charset of the body must be utf-8');
    }
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw errors.unsupported_media_type('The body must be sent without content encoding');
  }
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

/** Whether a body says of itself that it is JSON. */
export function isJson({ headers }: UnreadBody): boolean {
  return JSON_MEDIA_TYPE.test(headers['content-type'] ?? '');
}

/** Who did is not to be known. It is for the log: whoever wrote that has to mend it. */
const READ_ALREADY =
  'A middleware or a hook has read the body already, so that none is left for the operation: ' +
  'read request.body in a guard or an interceptor instead, once the service has parsed it';

/**
 * The whole body.
 * @throws {ApiError} 413 `payload_too_large` as soon as it is
 */
export function readBody(body: UnreadBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (body.failure !== undefined) throw body.failure;
    // Nothing is told any more of one that is gone already.
    if (body.destroyed && !body.readableEnded) throw brokenOff(undefined);
    if (body.readableDidRead) throw new Error(READ_ALREADY);
    // Of one that was empty, and that a guest has read: its end is told once.
    if (body.readableEnded) return resolve(Buffer.alloc(0));
    body.fail = reject;
    body.acceptBody?.();
    const chunks: Buffer[] = [];
    let size = 0;
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(tooLarge());
    });
    body.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // The client broke off: nobody reads the answer, yet the request must come to an end.
    body.on('error', (cause) => reject(brokenOff(cause)));
    body.on('close', () => {
      if (!body.readableEnded) reject(brokenOff(undefined));
    });
    // A guest may have paused it.
    body.resume();
  });
}

/**
 * What the body says, int64-exact.
 * @throws {ApiError} 400 `malformed_json`, or `invalid_request` for a member given twice
 */
export function parseBody(body: Buffer): JsonValue {
  try {
    return parseJson(utf8.decode(body));
  } catch (error) {
    if (error instanceof JsonDuplicateError) {
      throw invalidRequest(error.members.map((name) => `${shown(name)} is given twice`));
    }
    if (error instanceof JsonLimitError) throw invalidRequest([`The body is ${error.message}`]);
    throw errors.malformed_json(`The body is not JSON: ${reasonOf(error, body)}`);
  }
}

function reasonOf(error: unknown, { length }: Buffer): string {
  if (length === 0) return 'it is empty';
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : message;
}

function tooLarge(): ApiError {
  return errors.payload_too_large(`The body must not exceed ${MAX_BODY_BYTES} bytes`);
}

function brokenOff(cause: unknown): ApiError {
  return errors.malformed_request('The body ended before it was complete', { cause });
}
