import type { components } from './schema.js';

/** The codes of the service; a guest's operation may have codes of its own. */
export type ErrorCode = components['schemas']['ErrorCode'] | (string & {});

/** What an answer that is no success says. */
export interface Failure {
  code: ErrorCode;
  message: string;
  status: number;
  /** Names the request in the service's log. */
  requestId: string | undefined;
  /** How long to wait before trying again, where the service says so. */
  retryAfterSeconds: number | undefined;
}

/** The service answered, and it was no success. */
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
}

/** The service gave no answer, or one that broke off: whether it carried the request out is not known. */
export class PetStoreConnectionError extends Error {
  override readonly name: string = 'PetStoreConnectionError';
}

/** The service gave no answer in time. */
export class PetStoreTimeoutError extends PetStoreConnectionError {
  override readonly name: string = 'PetStoreTimeoutError';

  constructor(readonly timeoutMs: number) {
    super(`No answer within ${timeoutMs} ms`);
  }
}
