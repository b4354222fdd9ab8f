import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiResponse } from '@nestjs/swagger';
import type { ErrorDefinition } from './api-error.js';
import { ErrorBody } from './error.dto.js';
import { type ErrorCode, errors as coreErrors } from './errors.js';

/** Prefix of the temporary extensions that carry error codes to the document. */
export const ERROR_EXTENSION = 'x-error-';

/** Documents the errors of an operation, or of every operation of a controller. */
export function ApiErrors(
  ...errors: readonly (ErrorDefinition | ErrorCode)[]
): MethodDecorator & ClassDecorator {
  const byStatus = new Map<number, string[]>();
  const extensions = errors.map((error) => {
    const { code, status, meaning, example } =
      typeof error === 'string' ? coreErrors[error] : error;
    byStatus.set(status, [...(byStatus.get(status) ?? []), meaning]);
    return ApiExtension(`${ERROR_EXTENSION}${code}`, { code, status, meaning, example });
  });
  const responses = Array.from(byStatus, ([status, meanings]) =>
    ApiResponse({ status, description: meanings.join(' '), type: ErrorBody }),
  );
  return applyDecorators(...extensions, ...responses);
}
