import { HttpException, type HttpExceptionOptions } from '@nestjs/common';

export interface ApiErrorOptions {
  /** Response headers that belong to this error, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** What really happened: for the log, never for the caller. */
  cause?: unknown;
}

/** What the document tells of an error. */
export interface ErrorDefinition<Code extends string = string> {
  readonly code: Code;
  readonly status: number;
  readonly meaning: string;
  /** A message as callers get it, for the document. */
  readonly example?: string | undefined;
}

/** Nest's own, so that a guest's filters know it for one. Its `status` is private there: we have our own. */
const PublicHttpException: new (
  response: object,
  status: number,
  options?: HttpExceptionOptions,
) => Error & Pick<HttpException, 'getStatus' | 'getResponse'> = HttpException;

/** The one way to refuse a request, made by `defineErrors`: `message` is public, `cause` is not. */
export class ApiError<Code extends string = string> extends PublicHttpException {
  readonly status: number;
  readonly code: Code;
  readonly headers: Record<string, string> | undefined;

  constructor(
    { code, status }: Pick<ErrorDefinition<Code>, 'code' | 'status'>,
    message: string,
    { headers, cause }: ApiErrorOptions = {},
  ) {
    super({ code, message, status }, status, { cause });
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  /** The Error body of the specification, as JSON text. */
  toBody(): string {
    return JSON.stringify(this.getResponse());
  }
}
