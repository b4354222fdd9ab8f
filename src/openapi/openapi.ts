import type { INestApplication, Type } from '@nestjs/common';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type SwaggerDocumentOptions,
  SwaggerModule,
} from '@nestjs/swagger';
import type { Config } from '../config/config.js';
import { ERROR_EXTENSION } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import { FallbackController } from '../http/fallback.controller.js';
import { NOTED } from '../http/nest-metadata.js';
import { type Operation, operationsOf } from '../http/operations.js';
import { PublicAddress } from '../http/public-address.js';
import { type Handler, isPublic, OperationIds, unlike } from '../http/request-context.js';
import { Int64Pipe } from '../input/int64.js';
import { parametersOf } from '../input/operation-input.js';
import { BEARER_SCHEME } from '../keys/api-key.guard.js';
import { describeApi } from './description.js';
import { addDocument } from './merge.js';
import { addOwnSchemas, completeDocument, PUBLIC_EXTENSION } from './shared-components.js';

type ToJsonSchema = (options: object) => Record<string, unknown>;
/** A Standard Schema that can describe itself as JSON Schema. */
interface DescribedSchema {
  readonly '~standard': { readonly jsonSchema?: Partial<Record<'input' | 'output', ToJsonSchema>> };
}

interface MarkedOperation {
  operationId?: string;
  responses: Record<string, { description: string }>;
  [PUBLIC_EXTENSION]?: true;
  [error: `${typeof ERROR_EXTENSION}${string}`]: unknown;
}

/**
 * The OpenAPI 3.1 document of the application as it is, guests included.
 * @param ours the modules whose schemas keep their names
 */
export function buildDocument(
  app: INestApplication,
  config: Config,
  ours: ReadonlySet<Type>,
): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Pet Store')
    .setVersion('1.0.0')
    .setDescription(describeApi())
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addTag('pets', 'Animals up for adoption.')
    .addTag('usage', 'What a key may, and what is left of it.')
    .addServer(app.get(PublicAddress).baseUrl, 'Production')
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'API key: psk_...',
        description: 'An API key, sent as `Authorization: Bearer <API_KEY>`.',
      },
      BEARER_SCHEME,
    );
  if (config.stagingBaseUrl !== undefined) builder.addServer(config.stagingBaseUrl, 'Staging');
  const documentOf = (modules: readonly Type[]): OpenAPIObject =>
    SwaggerModule.createDocument(app, builder.build(), {
      include: [...modules],
      ignoreGlobalPrefix: true,
      operationIdFactory: (controller, method) => `${controller}_${method}`,
      standardSchemaConverter: withoutUnsayable,
    });
  const document = documentOf([...ours]);
  addOwnSchemas(document);
  const guests = new Set(operationsOf(app).map(({ module }) => module));
  for (const guest of guests) if (!ours.has(guest)) addDocument(document, documentOf([guest]));
  document.info.contact = { name: 'The operator who issued your API key' };
  mark(document, app);
  return completeDocument(document);
}

/**
 * What of a schema JSON Schema cannot say, as a date, is said to be anything: else there would be no document.
 * @returns undefined where the generator can say all of it
 */
const withoutUnsayable: SwaggerDocumentOptions['standardSchemaConverter'] = (
  schema,
  { schemaType },
) => {
  const convert = (schema as DescribedSchema)['~standard'].jsonSchema?.[schemaType];
  const target = 'openapi-3.0';
  try {
    convert?.({ target });
    return undefined;
  } catch {
    // Of Zod; others have no such option.
    return sayable(() => convert?.({ target, libraryOptions: { unrepresentable: 'any' } }));
  }
};

function sayable(convert: () => Record<string, unknown> | undefined) {
  try {
    const { $defs, definitions = $defs, ...schema } = convert() ?? {};
    delete schema['$schema'];
    return { schema, components: (definitions ?? {}) as Record<string, unknown> };
  } catch {
    return { schema: {} };
  }
}

/** By method and path, where the generator has put them. */
function mark(document: OpenAPIObject, app: INestApplication): void {
  const ids = app.get(OperationIds);
  const taken = new Set<string>();
  for (const { controller, handler, paths, method } of operationsOf(app)) {
    // It is not documented, and its paths read like those of others.
    if (controller === FallbackController) continue;
    const id = ids.idOf(controller, handler) ?? handler.name;
    for (const path of paths) {
      const item = (document.paths[written(path)] ?? {}) as Record<string, MarkedOperation>;
      for (const [verb, operation] of Object.entries(item)) {
        if (method !== 'ALL' && verb !== method.toLowerCase()) continue;
        // Of several paths, all but the first have a number besides.
        operation.operationId = unlike(taken, method === 'ALL' ? `${id}_${verb}` : id);
        taken.add(operation.operationId);
        if (isPublic(controller)) operation[PUBLIC_EXTENSION] = true;
        addSuccess(operation, method, handler);
        if (readsInt64(controller, handler)) addNotFound(operation);
      }
    }
  }
}

/** The generator adds none where a guest has documented errors alone. */
function addSuccess(
  { responses }: MarkedOperation,
  method: Operation['method'],
  handler: Handler,
): void {
  if (Object.keys(responses).some((status) => Number(status) < 400)) return;
  const ofMethod = method === 'POST' ? 201 : 200;
  const status = (Reflect.getMetadata(NOTED.status, handler) ?? ofMethod) as number;
  responses[status] = { description: '' };
}

/** Whether what cannot be an int64 of its path is answered as what is not there. */
function readsInt64(controller: Type, handler: Handler): boolean {
  return parametersOf(controller, handler).some(({ pipes }) =>
    pipes.some(
      (pipe) => pipe === Int64Pipe || (pipe instanceof Int64Pipe && pipe.missing === undefined),
    ),
  );
}

function addNotFound(operation: MarkedOperation): void {
  const { code, status, meaning, example } = errors.not_found;
  operation[`${ERROR_EXTENSION}${code}`] = { code, status, meaning, example };
  operation.responses[status] ??= { description: meaning };
}

/** What a wildcard without a name is called is the generator's. */
function written(path: string): string {
  return path.replace(/[:*](\w+)/g, '{$1}').replace(/\*$/, '{path}');
}
