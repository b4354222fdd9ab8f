import type { preValidationHookHandler } from 'fastify';
import { malformedError } from './malformed-message.js';

/** 64 KiB: some hundred times the largest pet. */
export const MAX_BODY_BYTES = 65_536;
const TOO_LARGE = Buffer.alloc(MAX_BODY_BYTES + 1);

/**
 * Buffers the body as `request.body`, unparsed: the guards decide first. Fastify's own parser answers an invalid media
 * type and a body over its limit before any guard. Of a body over the limit, `request.body` is more than the limit and
 * not what was sent.
 */
export const bufferBody: preValidationHookHandler = (request, reply, done) => {
  const { raw } = request;
  // Nest reads no body of these. A middleware of an extension may have read it.
  if (raw.method === 'GET' || raw.method === 'HEAD' || raw.readableEnded) return done();
  if (Number(raw.headers['content-length']) > MAX_BODY_BYTES) {
    request.body = TOO_LARGE;
    return done();
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = (body: Buffer | undefined): void => {
    raw.off('data', collect).off('end', end).off('error', fail).resume();
    request.body = body;
    done();
  };
  const collect = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) finish(TOO_LARGE);
  };
  const end = (): void => finish(Buffer.concat(chunks));
  const fail = (error: Error): void => {
    // The client is gone.
    if (raw.socket.destroyed) return;
    request.messageError = malformedError(error);
    reply.header('connection', 'close');
    finish(undefined);
  };
  raw.on('data', collect).on('end', end).on('error', fail);
};
