import type { INestApplication } from '@nestjs/common';
import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type SwaggerDocumentOptions,
  SwaggerModule,
} from '@nestjs/swagger';
import type { Config } from '../config/config.js';
import { errors } from '../errors/errors.js';
import { FallbackController } from '../http/fallback.controller.js';
import { type Operation, operationsOf } from '../http/operations.js';
import { PublicAddress } from '../http/public-address.js';
import { OperationIds, uniqueName } from '../http/operation-ids.js';
import { isPublic } from '../http/public.decorator.js';
import { BEARER_SCHEME } from '../keys/api-key.guard.js';
import { completeOperation, type OperationObject } from './complete-operation.js';
import { describeApi } from './description.js';
import { completeSchemas, furtherSchemas, otherError } from './document-components.js';
import { headerComponents } from './headers.js';

/** A Standard Schema that can describe itself as JSON Schema. */
interface DescribedSchema {
  readonly '~standard': {
    readonly jsonSchema?: Partial<
      Record<'input' | 'output', (options: object) => Record<string, unknown>>
    >;
  };
}

/** Builds the OpenAPI 3.1 document of the application, with the operations of extensions. */
export function buildDocument(app: INestApplication, config: Config): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, builderOf(app, config).build(), {
    ignoreGlobalPrefix: true,
    standardSchemaConverter: convertSchema,
  });
  document.info.contact = { name: 'The operator who issued your API key' };
  const { schemas = {} } = document.components!;
  const servers = document.servers!.map((each) => ({ ...each, url: new URL(each.url).origin }));
  const codes = new Set(Object.keys(errors));
  for (const { operation, controller } of documentedOperations(document, app)) {
    const isOpen = isPublic(controller);
    if (isOpen) operation.servers = servers;
    for (const code of completeOperation(operation, isOpen)) codes.add(code);
    completeSchemas(operation, schemas);
  }
  Object.assign(schemas, furtherSchemas(codes));
  Object.assign(document.components!, {
    headers: headerComponents(),
    responses: { OtherError: otherError() },
  });
  return document;
}

function builderOf(app: INestApplication, config: Config): DocumentBuilder {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Pet Store')
    .setVersion('1.0.0')
    .setDescription(describeApi())
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addTag('pets', 'Animals available for adoption.')
    .addTag('usage', 'Plan, scopes and quota of an API key.')
    .addServer(app.get(PublicAddress).baseUrl, 'Production')
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'API key: psk_...',
        description: 'Send the API key as `Authorization: Bearer <API_KEY>`.',
      },
      BEARER_SCHEME,
    );
  if (config.stagingBaseUrl !== undefined) builder.addServer(config.stagingBaseUrl, 'Staging');
  return builder;
}

/** Finds each documented operation of the application, and names it. */
function documentedOperations(document: OpenAPIObject, app: INestApplication) {
  const ids = app.get(OperationIds);
  const taken = new Set<string>();
  const all = operationsOf(app).filter(({ controller }) => controller !== FallbackController);
  return all.flatMap(({ controller, handler, method, paths }) => {
    const id = ids.idOf(controller, handler) ?? handler.name;
    return paths.flatMap((path) =>
      Object.entries(operationsAt(document, path)).flatMap(([verb, operation]) => {
        if (method !== 'ALL' && verb !== method.toLowerCase()) return [];
        operation.operationId = uniqueName(taken, method === 'ALL' ? `${id}_${verb}` : id);
        taken.add(operation.operationId);
        addSuccess(operation.responses, method, handler);
        return [{ operation, controller }];
      }),
    );
  });
}

function operationsAt({ paths }: OpenAPIObject, path: string): Record<string, OperationObject> {
  // The generator names a wildcard without a name `path`.
  const template = path.replace(/[:*](\w+)/g, '{$1}').replace(/\*$/, '{path}');
  return (paths[template] ?? {}) as Record<string, OperationObject>;
}

/** The generator adds no successful response to an operation that documents only errors. */
function addSuccess(
  responses: OperationObject['responses'],
  method: Operation['method'],
  handler: Operation['handler'],
): void {
  if (Object.keys(responses).some((status) => Number(status) < 400)) return;
  const status = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  responses[status ?? (method === 'POST' ? 201 : 200)] = { description: '' };
}

/**
 * A part of a schema that JSON Schema cannot express, such as a date, is documented as any value. Without this, there
 * would be no document.
 * @returns undefined if the generator can convert the schema itself
 */
const convertSchema: SwaggerDocumentOptions['standardSchemaConverter'] = (
  standard,
  { schemaType },
) => {
  const convert = (standard as DescribedSchema)['~standard'].jsonSchema?.[schemaType];
  const target = 'openapi-3.0';
  try {
    convert?.({ target });
    return undefined;
  } catch {
    // The option is Zod's.
    const json = convert?.({ target, libraryOptions: { unrepresentable: 'any' } }) ?? {};
    const { $defs, definitions = $defs, ...schema } = json;
    delete schema['$schema'];
    return { schema, components: (definitions ?? {}) as Record<string, unknown> };
  }
};
