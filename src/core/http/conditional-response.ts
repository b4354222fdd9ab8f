import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ApiReply, type ApiRequest, isApiRoute } from './request.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for an operation whose responses differ from request to request. */
    hasETag?: boolean;
  }
}

const ENTITY_TAGS = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;
/** 132 bits. */
const TAG_LENGTH = 22;

/**
 * Adds a strong `ETag` to a 200 with a JSON body (RFC 9110 section 8.8.3), unless the handler has
 * set one. It covers `Link`, so that a page that gets a successor has changed. Turns the response
 * into a 304 without a body if `If-None-Match` lists it (section 13.1.2).
 * @returns the body to send
 */
export function conditionalBody(request: ApiRequest, reply: ApiReply, body: unknown): unknown {
  const { method, raw, routeOptions } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead || reply.statusCode !== 200 || typeof body !== 'string') return body;
  if (!isApiRoute(request) || routeOptions.config.hasETag === false) return body;
  if (!String(reply.getHeader('content-type')).startsWith('application/json')) return body;
  if (!reply.hasHeader('etag')) {
    const state = body + String(reply.getHeader('link'));
    reply.header('etag', `"${hash('sha256', state, 'base64url').slice(0, TAG_LENGTH)}"`);
  }
  const wanted = raw.headers['if-none-match'];
  if (wanted === undefined || !lists(wanted, String(reply.getHeader('etag')))) return body;
  reply.code(304).removeHeader('content-type').removeHeader('content-length');
  // Fastify's HEAD routes set `Content-Length`, except for a stream.
  return method === 'HEAD' ? Readable.from([]) : null;
}

/** The weak comparison (RFC 9110 section 8.8.3.2). */
function lists(field: string, tag: string): boolean {
  if (field.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return Array.from(field.matchAll(ENTITY_TAGS)).some(([, listed]) => listed === opaque);
}
