interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: object;
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  parameters: Parameter[];
  requestBody?: { required?: boolean; content: { 'application/json': { schema: object } } };
}

export interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, object> };
}

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** The JSON Schema of a tool: the parameters of the operation, and `body`. */
export function inputSchemaOf(operation: OpenApiOperation, { components }: OpenApi): object {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const { name, description, ...parameter } of operation.parameters) {
    if (parameter.in === 'header' && name !== IDEMPOTENCY_KEY) continue;
    properties[name] = { description, ...parameter.schema };
    if (parameter.required) required.push(name);
  }
  const { requestBody } = operation;
  if (requestBody !== undefined) properties.body = requestBody.content['application/json'].schema;
  if (requestBody?.required) required.push('body');
  const schema = { type: 'object', properties, required, additionalProperties: false };
  // A tool has no components: the content of a component replaces each reference to it.
  const text = JSON.stringify(schema, (_name, part: { $ref?: string } | null) => {
    const component = part?.$ref?.split('/').at(-1);
    return component ? { ...part, ...components.schemas[component], $ref: undefined } : part;
  });
  return JSON.parse(text) as object;
}
