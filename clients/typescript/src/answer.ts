import { PetStoreError } from './errors.js';
import { readJson } from './json.js';
import { readRetryAfter } from './retry.js';

/** An answer that has arrived whole. */
export interface Answer {
  response: Response;
  text: string;
}

/** What is known of an answer before it comes. */
export interface Expected {
  int64Members: ReadonlySet<string>;
  /** Of an operation that always answers with JSON: whatever else comes is not from the service. */
  isAlwaysJson: boolean;
}

/** What the answer says, or the error that it stands for. */
export function readAnswer(
  { response, text }: Answer,
  { int64Members, isAlwaysJson }: Expected,
): unknown {
  if (!response.ok) return failureOf(response, text);
  if (text === '' && !isAlwaysJson) return undefined;
  if (!/\bjson\b/i.test(response.headers.get('content-type') ?? 'json')) {
    if (!isAlwaysJson) return text;
    return errorOf(response, 'unexpected_response', 'The answer is not JSON');
  }
  try {
    return readJson(text, int64Members);
  } catch (error) {
    return errorOf(response, 'unexpected_response', (error as Error).message);
  }
}

/** Not every answer is the service's own: a proxy on the way has errors of another form. */
function failureOf(response: Response, text: string): PetStoreError {
  try {
    const body = JSON.parse(text) as { code?: unknown; message?: unknown } | null;
    if (typeof body?.code === 'string' && typeof body.message === 'string') {
      return errorOf(response, body.code, body.message);
    }
  } catch {
    // Not JSON: told below.
  }
  // A browser tells nothing more of a redirect, not even its status.
  const what = response.type === 'opaqueredirect' ? 'redirect' : response.status;
  return errorOf(response, 'unexpected_response', `The answer is a bare ${what}`);
}

function errorOf({ status, headers }: Response, code: string, message: string): PetStoreError {
  return new PetStoreError({
    code,
    message,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: readRetryAfter(headers.get('retry-after'), Date.now()),
  });
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** The response as it came, with a body that is still to be read. */
export function unreadResponse({ response, text }: Answer): Response {
  const { status, statusText, headers, url } = response;
  const body = WITHOUT_BODY.has(status) ? null : text;
  const unread = new Response(body, { status, statusText, headers });
  return Object.defineProperty(unread, 'url', { value: url });
}
