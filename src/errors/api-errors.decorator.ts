import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiResponse } from '@nestjs/swagger';
import type { ErrorDefinition } from './api-error.js';
import { ErrorBody } from './error.dto.js';
import { type ErrorCode, errors as ours } from './errors.js';

/** How the document is told of a code, until it has made an example of it. */
export const ERROR_EXTENSION = 'x-error-';

/** Documents the errors that an operation, or each one of a controller, may answer with. */
export function ApiErrors(
  ...errors: readonly (ErrorDefinition | ErrorCode)[]
): MethodDecorator & ClassDecorator {
  const byStatus = new Map<number, string[]>();
  const extensions = errors.map((error) => {
    const { code, status, meaning, example } = typeof error === 'string' ? ours[error] : error;
    byStatus.set(status, [...(byStatus.get(status) ?? []), meaning]);
    return ApiExtension(`${ERROR_EXTENSION}${code}`, { code, status, meaning, example });
  });
  const responses = Array.from(byStatus, ([status, meanings]) =>
    ApiResponse({ status, description: meanings.join(' '), type: ErrorBody }),
  );
  return applyDecorators(...extensions, ...responses);
}
