import type { IncomingMessage } from 'node:http';
import { errors } from '../errors/errors.js';
import { malformedError } from './malformed-message.js';

/** Methods whose body has no meaning (RFC 9110 section 9.3). */
const WITHOUT_BODY = ['GET', 'HEAD', 'TRACE'];
export const NOTHING = Buffer.alloc(0);

export function hasBody({ method, headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return (length !== '0' || coding !== undefined) && !WITHOUT_BODY.includes(method!);
}

/**
 * Buffers a body. After an error, the rest of it is read and dropped, so that the connection stays
 * usable.
 * @param failure why the body could not be parsed, if that is known already
 * @param maxBytes the limit of the operation
 * @throws {ApiError} 413 if it exceeds the limit, 400 if it is malformed or cut off, 408 if it is
 *   late
 */
export function readBody(
  message: IncomingMessage,
  failure: Error | undefined,
  maxBytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => errors.payload_too_large(`The body must not exceed ${maxBytes} bytes`);
    if (failure !== undefined) throw malformedError(failure);
    if (Number(message.headers['content-length']) > maxBytes) throw tooLarge();
    let body: Buffer = NOTHING;
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      if (size + chunk.length > maxBytes) {
        size = Infinity;
        body = NOTHING;
        reject(tooLarge());
        return;
      }
      body = withRoom(body, size + chunk.length, maxBytes);
      size += chunk.copy(body, size);
    });
    message.on('end', () => resolve(body.subarray(0, size)));
    message.on('error', (cause) => reject(malformedError(cause)));
  });
}

/** A list of the chunks would cost 350 times the bytes if each chunk has one byte. */
export function withRoom(body: Buffer, size: number, maxBytes = Infinity): Buffer {
  if (body.length >= size) return body;
  const larger = Buffer.alloc(Math.min(Math.max(size, 2 * body.length), maxBytes));
  body.copy(larger);
  return larger;
}
