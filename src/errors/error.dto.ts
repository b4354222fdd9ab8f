import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type ErrorCode, errors } from './errors.js';

/** The body of every error response. */
@ApiSchema({ name: 'Error' })
export class ErrorBody {
  @ApiProperty({
    description: 'Machine-readable error code.',
    enum: Object.keys(errors),
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
