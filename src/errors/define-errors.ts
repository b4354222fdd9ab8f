import { ApiError, type ApiErrorOptions, type ErrorDefinition } from './api-error.js';

/** Makes an error of one code, and tells the document what it means. */
export interface ErrorFactory<Code extends string = string> extends ErrorDefinition<Code> {
  (message: string, options?: ApiErrorOptions): ApiError<Code>;
}

export type ErrorFactories<Codes extends string = string> = {
  readonly [Code in Codes]: ErrorFactory<Code>;
};

/** A table of codes, each with its HTTP status and when it is answered: one factory for each. */
export function defineErrors<Codes extends string>(
  table: Readonly<Record<Codes, { status: number; meaning: string; example?: string }>>,
): ErrorFactories<Codes> {
  const factories = Object.entries<Omit<ErrorDefinition, 'code'>>(table).map(
    ([code, { status, meaning, example }]) => [code, factoryOf({ code, status, meaning, example })],
  );
  return Object.freeze(Object.fromEntries(factories) as ErrorFactories<Codes>);
}

function factoryOf(definition: ErrorDefinition): ErrorFactory {
  return Object.freeze(
    Object.assign(
      (message: string, options?: ApiErrorOptions) => new ApiError(definition, message, options),
      definition,
    ),
  );
}
