import { ApiProperty } from '@nestjs/swagger';

/** The schema of a count. */
export const INT64 = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;
const TIME = { type: 'string', format: 'date-time' } as const;

/** Member of a response: a count. */
export function ApiCount(description: string, example: number, minimum = 0): PropertyDecorator {
  return ApiProperty({ ...INT64, minimum, description, example });
}

/** Member of a response: a time in ISO 8601, UTC. */
export function ApiTime(description: string) {
  return ApiProperty({ ...TIME, description, example: '2025-12-05T00:00:00.000Z' });
}

/** Member of a response: a time in ISO 8601, UTC, or null. */
export function ApiTimeOrNull(description: string) {
  return ApiProperty({ oneOf: [TIME, { type: 'null' }], description, example: null });
}
