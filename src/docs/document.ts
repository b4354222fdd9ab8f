import { type INestApplication, Injectable } from '@nestjs/common';
import {
  type DocumentBuilder,
  type OpenAPIObject,
  type SwaggerDocumentOptions,
  SwaggerModule,
} from '@nestjs/swagger';
import { ErrorBody } from '../core/errors/api-errors.decorator.js';
import { errors } from '../core/errors/errors.js';
import { type Operation, Operations } from '../core/http/operations.js';
import { isPublic } from '../core/http/public.decorator.js';
import { Plans } from '../core/rate-limits/plan.js';
import {
  completeOperation,
  type Conventions,
  errorContent,
  type OperationObject,
  type Schemas,
} from './complete-operation.js';
import { headerComponents, headerReference } from './headers.js';

/** What an application says of all its operations. */
export interface ApiDescription extends Conventions {
  /** Title, description, tags and servers. */
  builder: () => DocumentBuilder;
  bearer: { bearerFormat: string; description: string };
}

/** The OpenAPI 3.1 document as text. It is built on request, which keeps the start fast. */
@Injectable()
export class DocumentSource {
  private build!: () => OpenAPIObject;

  /** Called once the application is created. */
  describes(app: INestApplication, api: ApiDescription): void {
    this.build = () => buildDocument(app, api);
  }

  json(): string {
    return `${JSON.stringify(this.build(), null, 2)}\n`;
  }

  async yaml(): Promise<string> {
    const { dump } = await import('js-yaml');
    return dump(JSON.parse(this.json()), { noRefs: true });
  }
}

/** Builds the document of an application, with the operations of extensions. */
function buildDocument(app: INestApplication, api: ApiDescription): OpenAPIObject {
  const config = api
    .builder()
    .setOpenAPIVersion('3.1.0')
    .setVersion('1.0.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', ...api.bearer }, api.scheme)
    .build();
  config.info.contact = { name: 'The operator who issued your API key' };
  config.components = {
    ...config.components,
    headers: headerComponents(),
    responses: { OtherError: OTHER_ERROR },
  };
  const document = SwaggerModule.createDocument(app, config, {
    ignoreGlobalPrefix: true,
    extraModels: [ErrorBody],
    standardSchemaConverter: convertSchema,
  });
  const schemas = document.components!.schemas as Schemas;
  const codes = new Set(Object.keys(errors));
  for (const [operation, object] of documentedOperations(document, app)) {
    if (isPublic(operation.controller)) {
      object.servers = document.servers!.map((each) => ({
        ...each,
        url: new URL(each.url).origin,
      }));
    }
    for (const code of completeOperation(object, operation, api, schemas)) codes.add(code);
  }
  const { names } = app.get(Plans);
  for (const { properties } of Object.values(schemas)) {
    if (properties?.['plan']?.enum) properties['plan'].enum = names;
  }
  // Not an enum: a generated client with a closed enum would reject a new code.
  schemas['ErrorCode'] = {
    type: 'string',
    description: 'Machine-readable. Codes may be added: handle an unknown code by its status.',
    'x-extensible-enum': [...codes],
  };
  return document;
}

/** Finds each operation of the application in the document, and sets its id. */
function documentedOperations({ paths }: OpenAPIObject, app: INestApplication) {
  const found: [Operation, OperationObject][] = [];
  for (const operation of app.get(Operations).all) {
    const { id, method } = operation;
    for (const [index, path] of operation.paths.entries()) {
      // The generator names a wildcard without a name `path`.
      const template = path
        .replace(/(?<!:)[:*](\w+)/g, '{$1}')
        .replace(/\*$/, '{path}')
        .replaceAll('::', ':');
      const objects = (paths[template] ?? {}) as Record<string, OperationObject>;
      // `@All()` and `@Search()` have it; OpenAPI 3.1 does not.
      delete objects['search'];
      for (const [verb, object] of Object.entries(objects)) {
        if (method !== 'ALL' && verb !== method.toLowerCase()) continue;
        const names = [id, method === 'ALL' && verb, index > 0 && index + 1];
        object.operationId = names.filter(Boolean).join('_');
        correctParameters(object, template);
        found.push([operation, object]);
      }
    }
  }
  return found;
}

/** Names the wildcard as its path does, and leaves out parameters of other paths. */
function correctParameters(object: OperationObject, template: string): void {
  for (const each of object.parameters ?? []) if (each.name === '*') each.name = 'path';
  object.parameters = object.parameters?.filter(
    (each) => each.in !== 'path' || template.includes(`{${each.name}}`),
  );
}

/** The response of every status that an operation does not list. */
const OTHER_ERROR = {
  description:
    'Any other error. `code` is listed above, or the name of the status in snake case, such as ' +
    '`conflict` (409).',
  headers: { 'X-Request-Id': headerReference('X-Request-Id') },
  content: errorContent({ example: { code: 'conflict', message: 'Conflict', status: 409 } }),
};

type Described = Record<'~standard', { jsonSchema?: Record<string, (options: object) => object> }>;

/**
 * A schema that JSON Schema cannot express, such as a date, is documented as any value. Without
 * this, there would be no document.
 * @returns undefined if the generator can convert the schema itself
 */
const convertSchema: SwaggerDocumentOptions['standardSchemaConverter'] = (schema, options) => {
  const { jsonSchema } = (schema as Described)['~standard'];
  try {
    jsonSchema?.[options.schemaType]?.({ target: 'openapi-3.0' });
    return undefined;
  } catch {
    return { schema: {} };
  }
};
