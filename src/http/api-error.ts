/** Every error code of the API, its HTTP status, and when it is answered. The document lists them. */
export const ERROR_CODES = {
  invalid_request: {
    status: 400,
    meaning: 'A parameter, header or member breaks its constraints.',
  },
  malformed_json: { status: 400, meaning: 'The body is not JSON.' },
  malformed_request: { status: 400, meaning: 'The message is not well-formed HTTP.' },
  missing_api_key: { status: 401, meaning: 'No API key was sent.' },
  invalid_api_key: { status: 401, meaning: 'The API key is unknown, revoked or expired.' },
  insufficient_scope: { status: 403, meaning: 'The API key lacks the scope of the operation.' },
  pet_not_found: { status: 404, meaning: 'There is no such animal.' },
  not_found: { status: 404, meaning: 'There is no such resource.' },
  method_not_allowed: { status: 405, meaning: 'The resource has no such method.' },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  idempotency_key_in_use: { status: 409, meaning: 'The first request is still under way.' },
  operation_removed: { status: 410, meaning: 'The operation is past its removal date.' },
  payload_too_large: { status: 413, meaning: 'The body is larger than 64 KiB.' },
  uri_too_long: { status: 414, meaning: 'The request target is too long.' },
  unsupported_media_type: { status: 415, meaning: 'The body is not declared as UTF-8 JSON.' },
  expectation_failed: { status: 417, meaning: 'The Expect header asks for the unknown.' },
  idempotency_key_reused: { status: 422, meaning: 'The key was used with another body.' },
  rate_limit_exceeded: { status: 429, meaning: 'A quota is used up until Retry-After.' },
  key_banned: { status: 429, meaning: 'The client went on after too many refusals.' },
  header_fields_too_large: { status: 431, meaning: 'The header fields are too many or too large.' },
  internal_error: { status: 500, meaning: 'The service failed; the log names the request id.' },
  service_unavailable: { status: 503, meaning: 'The service cannot answer now; retry later.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ApiErrorOptions {
  /** Response headers that belong to this error, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** What really happened: for the log, never for the caller. */
  cause?: unknown;
}

/** The one way to refuse a request: `message` is public, `cause` is not. */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Record<string, string> | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.status = ERROR_CODES[code].status;
    this.headers = options.headers;
  }

  /** The Error body of the specification, as JSON text. */
  toBody(): string {
    return JSON.stringify({ code: this.code, message: this.message, status: this.status });
  }
}

export function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such resource');
}

/** Retry-After is a guess at how long an outage lasts: short, since recovery is noticed at once. */
export function serviceUnavailable(cause: unknown): ApiError {
  return new ApiError('service_unavailable', 'The service is temporarily unavailable', {
    headers: { 'Retry-After': '2' },
    cause,
  });
}
