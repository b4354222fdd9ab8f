import { ApiProperty, ApiSchema } from '@nestjs/swagger';
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

/** Metadata key of the errors of an operation or a controller. */
export const API_ERRORS = 'petstore:errors';

/** An error, or the code of an error that the core or any extension declares. */
export type DocumentedError = ErrorDefinition | string;

/** Documents the errors of an operation, or of every operation of a controller. */
export function ApiErrors(...errors: readonly DocumentedError[]): MethodDecorator & ClassDecorator {
  return <T>(type: object, _key?: unknown, method?: TypedPropertyDescriptor<T>) => {
    const target = (method?.value as object | undefined) ?? type;
    const others = (Reflect.getMetadata(API_ERRORS, target) ?? []) as DocumentedError[];
    Reflect.defineMetadata(API_ERRORS, [...errors, ...others], target);
  };
}
