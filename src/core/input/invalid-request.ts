import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';

/** A 400 that names every fault. */
export function invalidRequest(faults: readonly string[], cause?: unknown): ApiError {
  return errors.invalid_request(faults.join('; '), { cause });
}

/** Quotes text of the client in a message: shortened to 40 characters, escaped and well-formed. */
export function quoteForMessage(text: string): string {
  const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  return JSON.stringify(shown.toWellFormed());
}

/** @param type `query`, or the part of the request that has members */
export function undeclared(name: string, type: string): string {
  const kind = type === 'query' ? 'query parameter' : 'member';
  return `${quoteForMessage(name)} is not a known ${kind}`;
}

/** A 415 for a body of another media type or encoding, and for no body where one is needed. */
export function unsupported(types: readonly string[] = ['application/json in UTF-8']): ApiError {
  return errors.unsupported_media_type(
    `The body must be sent as ${types.join(' or ')}, without content encoding`,
  );
}
