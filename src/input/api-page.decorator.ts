import type { Type } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';

/** Documents an operation that returns a `Page` of `type`. */
export function ApiPage(type: Type, description = 'A page of the list.'): MethodDecorator {
  return ApiOkResponse({
    description,
    type: [type],
    headers: {
      Link: {
        description: 'URL of the next page (RFC 8288). Absent on the last page.',
        schema: { type: 'string' },
      },
    },
  });
}
