import { type INestApplication, Injectable } from '@nestjs/common';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type SwaggerDocumentOptions,
  SwaggerModule,
} from '@nestjs/swagger';
import { Config } from '../config/config.js';
import { ErrorBody } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import { errorsOf, type Extension } from '../extensions/define.js';
import { type Operation, Operations } from '../http/operations.js';
import { Plans } from '../rate-limits/plan.js';
import { PublicAddress } from '../config/public-address.js';
import { isPublic } from '../http/public.decorator.js';
import { BEARER_SCHEME } from '../keys/api-key.guard.js';
import {
  completeOperation,
  ERROR_SCHEMA,
  JSON_TYPE,
  type OperationObject,
  type Schemas,
} from './complete-operation.js';
import { describeApi } from './description.js';
import { headerComponents, headerReference } from './headers.js';

/** The OpenAPI 3.1 document as text. It is built on request, which keeps the start fast. */
@Injectable()
export class DocumentSource {
  private build!: () => OpenAPIObject;

  /**
   * Called once the application is assembled.
   * @param head returns title, tags, servers and the security scheme of the document
   */
  describes(
    app: INestApplication,
    head: () => DocumentBuilder,
    extensions: readonly Extension[] = [],
  ): void {
    this.build = () => buildDocument(app, head(), extensions);
  }

  json(): string {
    return `${JSON.stringify(this.build(), null, 2)}\n`;
  }

  async yaml() {
    const { stringify } = await import('yaml');
    return stringify(this.build(), { aliasDuplicateObjects: false });
  }
}

/** Builds the document of an application, with the operations of extensions. */
function buildDocument(
  app: INestApplication,
  builder: DocumentBuilder,
  extensions: readonly Extension[],
): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, builder.build(), {
    ignoreGlobalPrefix: true,
    extraModels: [ErrorBody],
    standardSchemaConverter: convertSchema,
  });
  document.info.contact = { name: 'The operator who issued your API key' };
  const schemas = document.components!.schemas as Schemas;
  const [scheme] = Object.keys(document.components!.securitySchemes!);
  const codes = new Set(Object.keys(errors));
  const declared = errorsOf(extensions);
  for (const [operation, object] of documentedOperations(document, app)) {
    if (isPublic(operation.controller)) {
      object.servers = document.servers!.map((each) => ({
        ...each,
        url: new URL(each.url).origin,
      }));
    }
    const found = completeOperation(object, operation, schemas, declared, scheme!);
    for (const code of found) codes.add(code);
  }
  const { names } = app.get(Plans);
  for (const { properties } of Object.values(schemas)) {
    if (properties?.['plan']?.enum) properties['plan'].enum = names;
  }
  schemas['ErrorCode'] = errorCodes(codes);
  Object.assign(document.components!, {
    headers: headerComponents(),
    responses: { OtherError: otherError() },
  });
  return document;
}

export function publicBuilder(
  app: INestApplication,
  extensions: readonly Extension[],
): DocumentBuilder {
  const { publicBaseUrl, stagingBaseUrl } = app.get(Config);
  const description = 'Send the API key as `Authorization: Bearer <API_KEY>`.';
  const builder = builderOf(BEARER_SCHEME, 'API key: psk_...', description)
    .setTitle('Pet Store')
    .setDescription(describeApi(app.get(Plans), errorsOf(extensions)))
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(app.get(PublicAddress).baseUrl, publicBaseUrl ? 'Production' : 'Local');
  if (stagingBaseUrl !== undefined) builder.addServer(stagingBaseUrl, 'Staging');
  const tags = extensions.flatMap((each) => Object.entries(each.tags ?? {}));
  for (const [name, text] of tags) builder.addTag(name, text);
  return builder;
}

/** @param name of the security scheme */
export function builderOf(name: string, bearerFormat: string, description: string) {
  return new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setVersion('1.0.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat, description }, name);
}

/** Finds each operation of the application in the document, and sets its id. */
function documentedOperations({ paths }: OpenAPIObject, app: INestApplication) {
  const found: [Operation, OperationObject][] = [];
  for (const operation of app.get(Operations).all) {
    const { id, method } = operation;
    for (const [index, path] of operation.paths.entries()) {
      // The generator names a wildcard without a name `path`.
      const template = path.replace(/[:*](\w+)/g, '{$1}').replace(/\*$/, '{path}');
      const objects = (paths[template] ?? {}) as Record<string, OperationObject>;
      for (const [verb, object] of Object.entries(objects)) {
        if (method !== 'ALL' && verb !== method.toLowerCase()) continue;
        const names = [id, method === 'ALL' && verb, index > 0 && index + 1];
        object.operationId = names.filter(Boolean).join('_');
        found.push([operation, object]);
      }
    }
  }
  return found;
}

/** The response of every status that an operation does not list. */
function otherError(): object {
  return {
    description:
      'Any other error. `code` is listed above, or the name of the status in snake case, such as ' +
      '`conflict` (409).',
    headers: { 'X-Request-Id': headerReference('X-Request-Id') },
    content: {
      [JSON_TYPE]: {
        schema: ERROR_SCHEMA,
        example: { code: 'conflict', message: 'Conflict', status: 409 },
      },
    },
  };
}

/** Not an enum: a generated client with a closed enum would reject a new code. */
function errorCodes(codes: Iterable<string>): object {
  return {
    type: 'string',
    description: 'Machine-readable. Codes may be added: handle an unknown code by its status.',
    'x-extensible-enum': [...codes],
  };
}

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
