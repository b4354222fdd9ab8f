import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';

/** Metadata key of the name of a schema. */
export const PAGE_SCHEMA = 'petstore:page-schema';

/**
 * Documents an operation that returns a `Page` of `type`.
 * @param name of the schema of the page; by default, it has none
 */
export function ApiPage(
  type: Type,
  description = 'A page of the list.',
  name?: string,
): MethodDecorator {
  const response = ApiOkResponse({
    description,
    type: [type],
    headers: {
      Link: {
        description: 'URL of the next page (RFC 8288). Absent on the last page.',
        schema: { type: 'string' },
      },
    },
  });
  return applyDecorators(response, SetMetadata(PAGE_SCHEMA, name));
}
