import { ApiProperty } from '@nestjs/swagger';

/** The schema of a count, or of a time in Unix seconds. */
export const INT64 = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** Member of a response: a count, or a time in Unix seconds. */
export function ApiCount(description: string, example: number, minimum = 0): PropertyDecorator {
  return ApiProperty({ ...INT64, minimum, description, example });
}

/** Member of a response: a time in Unix seconds, or null. */
export function ApiTimeOrNull(description: string, example: number | null = null) {
  return ApiProperty({ oneOf: [INT64, { type: 'null' }], description, example });
}
