import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';

const MAX_QUOTED_LENGTH = 40;

/** A 400 that names every fault. */
export function invalidRequest(faults: readonly string[], cause?: unknown): ApiError {
  return errors.invalid_request(faults.join('; '), { cause });
}

/** Quotes text of the client in a message: shortened, escaped and well-formed. */
export function quoteForMessage(text: string): string {
  const isLong = text.length > MAX_QUOTED_LENGTH;
  return JSON.stringify((isLong ? `${text.slice(0, MAX_QUOTED_LENGTH)}...` : text).toWellFormed());
}

/** @param type `query`, or the part of the request that has members */
export function undeclared(name: string, type: string): string {
  const kind = type === 'query' ? 'query parameter' : 'member';
  return `${quoteForMessage(name)} is not a known ${kind}`;
}

/** A 415 for a body of another media type or encoding, and for no body where one is needed. */
export function notJson(): ApiError {
  return errors.unsupported_media_type(
    'The body must be sent as application/json, in UTF-8 and without content encoding',
  );
}
