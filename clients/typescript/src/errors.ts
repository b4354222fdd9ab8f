import type { components } from './schema.js';

/** The codes of the service. Operations of extensions may define further codes. */
export type ErrorCode = components['schemas']['ErrorCode'] | (string & {});

/** The contents of an error response. */
export interface Failure {
  code: ErrorCode;
  message: string;
  /** The HTTP status. */
  status: number;
  /** Identifies the request in the log of the service. */
  requestId: string | undefined;
  /** Seconds to wait before another attempt, if the response has `Retry-After`. */
  retryAfterSeconds: number | undefined;
}

/** The service responded with an error. */
export class PetStoreError extends Error implements Failure {
  override readonly name: string = 'PetStoreError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor({ code, message, status, requestId, retryAfterSeconds }: Failure) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Makes `JSON.stringify(error)` include the message, which is not enumerable. */
  toJSON(): Failure & { name: string } {
    const { name, code, status, message, requestId, retryAfterSeconds } = this;
    return { name, code, status, message, requestId, retryAfterSeconds };
  }
}

/** 400: the request is invalid. Sending it again gives the same response. */
export class ValidationError extends PetStoreError {
  override readonly name = 'ValidationError';
}

/** 401: the API key is missing, unknown, revoked or expired. */
export class AuthenticationError extends PetStoreError {
  override readonly name = 'AuthenticationError';
}

/** 403: the API key lacks the scope of the operation. */
export class PermissionError extends PetStoreError {
  override readonly name = 'PermissionError';
}

/** 404: no such pet or path. */
export class NotFoundError extends PetStoreError {
  override readonly name = 'NotFoundError';
}

/** 409 or 422: the request conflicts with an earlier one, for example by its idempotency key. */
export class ConflictError extends PetStoreError {
  override readonly name = 'ConflictError';
}

/** 429: the quota is used up (`rate_limit_exceeded`) or the key is banned (`key_banned`). */
export class RateLimitError extends PetStoreError {
  override readonly name = 'RateLimitError';
}

/** 500 to 599: the service failed or is unavailable. */
export class ServerError extends PetStoreError {
  override readonly name = 'ServerError';
}

const CLASSES: Record<number, new (failure: Failure) => PetStoreError> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: ConflictError,
  429: RateLimitError,
};

/** @returns an instance of the class for the status, or of `PetStoreError` if it has none. */
export function createError(failure: Failure): PetStoreError {
  const { status } = failure;
  return new (CLASSES[status] ?? (status >= 500 ? ServerError : PetStoreError))(failure);
}

/**
 * No response arrived, or only part of one. The service may or may not have executed the request.
 */
export class PetStoreConnectionError extends Error {
  override readonly name: string = 'PetStoreConnectionError';

  toJSON(): { name: string; message: string } {
    return { name: this.name, message: this.message };
  }
}

/** No response arrived within `timeoutMs`. */
export class PetStoreTimeoutError extends PetStoreConnectionError {
  override readonly name: string = 'PetStoreTimeoutError';

  constructor(readonly timeoutMs: number) {
    super(`No response within ${timeoutMs} ms`);
  }
}
