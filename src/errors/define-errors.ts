import { ApiError, type ApiErrorOptions, type ErrorDefinition } from './api-error.js';

/** Creates errors of one code; also describes the code for the document. */
export interface ErrorFactory<Code extends string = string> extends ErrorDefinition<Code> {
  (message: string, options?: ApiErrorOptions): ApiError<Code>;
}

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
