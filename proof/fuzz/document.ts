import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The members of JSON Schema that documents of the service use. */
export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  type?: string | string[];
  enum?: string[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  schema: Schema;
}

interface Header {
  $ref?: string;
  required?: boolean;
  schema?: Schema;
}

export interface DocumentedResponse {
  $ref?: string;
  headers?: Record<string, Header>;
  content?: Record<string, { schema: Schema; examples?: Record<string, unknown> }>;
}

export interface Operation {
  id: string;
  method: string;
  /** With the path of the base address: `/v1/pets/{petId}`. */
  path: string;
  parameters: readonly Parameter[];
  body?: Schema;
  responses: Readonly<Record<string, DocumentedResponse>>;
  scopes: readonly string[];
}

interface RawOperation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, DocumentedResponse>;
  security?: Record<string, string[]>[];
}

interface RawDocument {
  servers: { url: string }[];
  paths: Record<string, Record<string, RawOperation>>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const INT64_END = 2 ** 63;

/** An OpenAPI document, with its references resolved. */
export class Document {
  readonly operations: readonly Operation[];
  private readonly ajv = new Ajv2020({ strict: false, validateSchema: false });
  private readonly validators = new Map<Schema, ValidateFunction>();

  constructor(private readonly raw: object) {
    // A number of JSON.parse is rounded, so that the largest int64 reads as 2^63.
    const isInt64 = (value: number): boolean => value >= -INT64_END && value <= INT64_END;
    this.ajv.addFormat('int64', { type: 'number', validate: isInt64 });
    for (const format of ['uri', 'date-time', 'uuid']) this.ajv.addFormat(format, true);
    this.ajv.addSchema(raw, 'document');
    const { servers, paths } = raw as RawDocument;
    const base = new URL(servers[0]!.url).pathname;
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      METHODS.filter((method) => methods[method] !== undefined).map((method) =>
        operationOf(method, base + path, methods[method]!),
      ),
    );
  }

  resolve<Item extends { $ref?: string }>(item: Item): Item {
    let found = item;
    while (found.$ref !== undefined) {
      const names = found.$ref.slice(2).split('/');
      let target: unknown = this.raw;
      for (const name of names) target = (target as Record<string, unknown>)[name];
      found = target as Item;
    }
    return found;
  }

  /** @returns what is wrong with a value; undefined if it is valid */
  faultOf(schema: Schema, value: unknown): string | undefined {
    const validate = this.validators.get(schema) ?? this.compile(schema);
    this.validators.set(schema, validate);
    return validate(value) ? undefined : this.ajv.errorsText(validate.errors);
  }

  /** Methods of the operations with this path. */
  methodsOf(path: string): string[] {
    return this.operations.filter((each) => each.path === path).map(({ method }) => method);
  }

  private compile(schema: Schema): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    return this.ajv.compile(JSON.parse(text) as object);
  }
}

function operationOf(method: string, path: string, raw: RawOperation): Operation {
  const body = raw.requestBody?.content['application/json']?.schema;
  return {
    id: raw.operationId,
    method: method.toUpperCase(),
    path,
    parameters: raw.parameters ?? [],
    ...(body !== undefined && { body }),
    responses: raw.responses,
    scopes: (raw.security ?? []).flatMap((each) => Object.values(each).flat()),
  };
}
