import { HttpException } from '@nestjs/common';

/** Headers and cause of an error. */
export interface ApiErrorOptions {
  /** Response headers that belong to this error, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** The underlying error, for the log only. */
  cause?: unknown;
}

/** An error code, as the document describes it. */
export interface ErrorDefinition<Code extends string = string> {
  readonly code: Code;
  readonly status: number;
  readonly meaning: string;
}

/** Shortens keys and admin tokens to their prefix: a caller may send one in the wrong place. */
export function withoutKeys(text: string): string {
  return text.replace(/(ps[ka]_)\w{20,}\.*/g, '$1...');
}

/**
 * An error response, created by the factories of `defineErrors`. The client receives `message`, but
 * not `cause`.
 */
export class ApiError<Code extends string = string> extends HttpException {
  readonly code: Code;
  readonly headers: Record<string, string> | undefined;

  constructor(
    { code, status }: Pick<ErrorDefinition<Code>, 'code' | 'status'>,
    message: string,
    { headers, cause }: ApiErrorOptions = {},
  ) {
    super({ code, message: withoutKeys(message), status }, status, { cause });
    this.code = code;
    this.headers = headers;
  }
}

/** Creates errors of one code; also describes the code for the document. */
export interface ErrorFactory<Code extends string = string> extends ErrorDefinition<Code> {
  (message: string, options?: ApiErrorOptions): ApiError<Code>;
}

/** The factories of a table of `defineErrors`, by code. */
export type ErrorFactories<Codes extends string = string> = {
  readonly [Code in Codes]: ErrorFactory<Code>;
};

/** Creates an error factory for each code of the table. */
export function defineErrors<Codes extends string>(
  table: Readonly<Record<Codes, { status: number; meaning: string }>>,
): ErrorFactories<Codes> {
  const entries = Object.entries<Omit<ErrorDefinition, 'code'>>(table);
  const factories = entries.map(([code, { status, meaning }]) => {
    const create = (message: string, options?: ApiErrorOptions) =>
      new ApiError({ code, status }, message, options);
    return [code, Object.assign(create, { code, status, meaning })];
  });
  return Object.fromEntries(factories) as ErrorFactories<Codes>;
}
