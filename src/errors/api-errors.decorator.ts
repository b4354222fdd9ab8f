import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiProperty, ApiResponse, ApiSchema } from '@nestjs/swagger';
import type { ErrorDefinition } from './api-error.js';
import { type ErrorCode, errors as coreErrors } from './errors.js';

/** The body of every error response. */
@ApiSchema({ name: 'Error' })
export class ErrorBody {
  @ApiProperty({
    description: 'Machine-readable error code.',
    enum: Object.keys(coreErrors),
    enumName: 'ErrorCode',
    example: 'invalid_request',
  })
  code!: ErrorCode;

  @ApiProperty({
    description: 'Human-readable description.',
    example: 'limit must be an integer between 1 and 100',
  })
  message!: string;

  @ApiProperty({
    description: 'The HTTP status code.',
    type: 'integer',
    minimum: 400,
    maximum: 599,
    example: 400,
  })
  status!: number;
}

/** Prefix of the temporary extensions that carry error codes to the document. */
export const ERROR_EXTENSION = 'x-error-';

/** Documents the errors of an operation, or of every operation of a controller. */
export function ApiErrors(
  ...errors: readonly (ErrorDefinition | ErrorCode)[]
): MethodDecorator & ClassDecorator {
  const byStatus = new Map<number, string[]>();
  const extensions = errors.map((error) => {
    const { code, status, meaning } = typeof error === 'string' ? coreErrors[error] : error;
    byStatus.set(status, [...(byStatus.get(status) ?? []), meaning]);
    return ApiExtension(`${ERROR_EXTENSION}${code}`, { code, status, meaning });
  });
  const responses = Array.from(byStatus, ([status, meanings]) =>
    ApiResponse({ status, description: meanings.join(' '), type: ErrorBody }),
  );
  return applyDecorators(...extensions, ...responses);
}
