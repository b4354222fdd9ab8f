import type { onSendHookHandler, RouteOptions } from 'fastify';

/** Of answers that never have a body, GET says no length (RFC 9110 section 8.6). */
const WITHOUT_LENGTH = new Set([204, 304]);

const takeLength: onSendHookHandler = (_request, reply, payload, done) => {
  if (WITHOUT_LENGTH.has(reply.statusCode)) reply.removeHeader('content-length');
  done(null, payload);
};

/** To HEAD, Fastify says that all that has no body has one of no bytes: behind it, that is taken back. */
export function sayNoLengthOfNothing(route: RouteOptions): void {
  if (route.method === 'HEAD') route.onSend = [route.onSend ?? [], takeLength].flat();
}
