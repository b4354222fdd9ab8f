import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';

/** Metadata key of the name that the document gives to the schema of a list. */
export const LIST_NAME = 'petstore:list-name';

/**
 * Documents an operation that returns a `Page` of `type`.
 * @param options.name of the schema of the list; by default it has none
 */
export function ApiPage(
  type: Type,
  { name, description = 'A page of the list.' }: { name?: string; description?: string } = {},
): MethodDecorator {
  return applyDecorators(
    SetMetadata(LIST_NAME, name),
    ApiExtraModels(type),
    ApiOkResponse({
      description,
      schema: { type: 'array', maxItems: 100, items: { $ref: getSchemaPath(type) } },
      headers: {
        Link: {
          description: 'URL of the next page (RFC 8288). Absent on the last page.',
          schema: { type: 'string' },
        },
      },
    }),
  );
}
