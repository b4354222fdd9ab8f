import { createError, PetStoreError } from './errors.js';
import { readJson } from './json.js';
import { readRetryAfter } from './retry.js';
import { serviceTime } from './runtime.js';

/** A response with its complete body. */
export interface BufferedResponse {
  response: Response;
  text: string;
}

/** Properties of the expected response. */
export interface Expectation {
  int64Members: ReadonlySet<string>;
  timeMembers: ReadonlySet<string>;
  /** The operation always responds with JSON. Any other response does not come from the service. */
  isAlwaysJson: boolean;
}

/** @returns the data of the response, or the error to throw. */
export function readResponse(
  { response, text }: BufferedResponse,
  { int64Members, timeMembers, isAlwaysJson }: Expectation,
): unknown {
  // The answer to `ifNoneMatch`: the caller has the current response.
  if (response.status === 304) return undefined;
  if (!response.ok) return readFailure(response, text);
  if (text === '' && !isAlwaysJson) return undefined;
  if (!/\bjson\b/i.test(response.headers.get('content-type') ?? 'json')) {
    if (!isAlwaysJson) return text;
    return unexpectedResponse(response, 'The response is not JSON');
  }
  try {
    return readJson(text, int64Members, timeMembers);
  } catch (error) {
    return unexpectedResponse(response, (error as Error).message);
  }
}

/** A proxy between client and service may respond with an error of another format. */
function readFailure(response: Response, text: string): PetStoreError {
  try {
    const body = JSON.parse(text) as { code?: unknown; message?: unknown } | null;
    if (typeof body?.code === 'string' && typeof body.message === 'string') {
      return createError(failureOf(response, body.code, body.message));
    }
  } catch {
    // Not JSON: handled below.
  }
  // Browsers hide the status of a redirect.
  const kind = response.type === 'opaqueredirect' ? 'a redirect' : `status ${response.status}`;
  return unexpectedResponse(response, `The response is ${kind} without an error body`);
}

/** Has no subclass: a 404 of a proxy, for example, does not mean that a pet does not exist. */
function unexpectedResponse(response: Response, message: string): PetStoreError {
  return new PetStoreError(failureOf(response, 'unexpected_response', message));
}

function failureOf({ status, headers }: Response, code: string, message: string) {
  return {
    code,
    message,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: readRetryAfter(headers.get('retry-after'), serviceTime(headers)),
  };
}

const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

/** @returns a copy of the response whose body has not been read. */
export function toUnreadResponse({ response, text }: BufferedResponse): Response {
  const { status, statusText, headers, url } = response;
  const body = STATUSES_WITHOUT_BODY.has(status) ? null : text;
  const unread = new Response(body, { status, statusText, headers });
  return Object.defineProperty(unread, 'url', { value: url });
}
