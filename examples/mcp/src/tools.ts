import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import * as mcp from '@modelcontextprotocol/server';
import { stringifyJson } from 'pet-store-service';
import { IDEMPOTENCY_KEY, inputSchemaOf, type OpenApi, type OpenApiOperation } from './openapi.js';
import { type CallerRequest, type OperationRequest, Operations } from './operations.js';

export const OPERATION_IDS = Symbol('operation ids');

/** The operation validates its input, and its error body explains what is wrong. */
const NO_VALIDATOR: mcp.jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

type Arguments = Record<string, unknown>;

interface Tool {
  method: string;
  path: string; // such as /pets/{petId}
  operation: OpenApiOperation;
  inputSchema: mcp.StandardSchemaWithJSON<Arguments>;
}

/** The operations that are offered as tools, as the OpenAPI document describes them. */
@Injectable()
export class Tools {
  private tools?: readonly Tool[];

  constructor(
    @Inject(OPERATION_IDS) private readonly operationIds: readonly string[],
    private readonly operations: Operations,
  ) {}

  /**
   * Adds the tools to a server that runs them for one caller.
   * @param onCall called before each call of an operation
   */
  async register(server: mcp.McpServer, caller: CallerRequest, onCall: () => void): Promise<void> {
    // The document is complete once the service has started, and does not change.
    this.tools ??= await this.load(caller);
    for (const tool of this.tools) {
      const { operationId, summary: title, description } = tool.operation;
      const annotations = { readOnlyHint: tool.method === 'get' };
      const config = { title, description, annotations, inputSchema: tool.inputSchema };
      server.registerTool(operationId, config, (values) => {
        onCall();
        return this.run(tool, values, caller);
      });
    }
  }

  private async load(caller: CallerRequest): Promise<readonly Tool[]> {
    const document = JSON.parse(await this.operations.read('/openapi.json', caller)) as OpenApi;
    const all = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
    );
    return this.operationIds.map((id) => {
      const found = all.find(({ operation }) => operation.operationId === id);
      if (found === undefined) throw new Error(`There is no operation "${id}" in /openapi.json`);
      const schema = inputSchemaOf(found.operation, document);
      return { ...found, inputSchema: mcp.fromJsonSchema<Arguments>(schema, NO_VALIDATOR) };
    });
  }

  private async run(
    tool: Tool,
    values: Arguments,
    caller: CallerRequest,
  ): Promise<mcp.CallToolResult> {
    const { statusCode, headers, body } = await this.operations.call(
      requestOf(tool, values),
      caller,
    );
    // A Link header has the cursor of the next page.
    const texts = headers.link === undefined ? [body] : [body, `Link: ${headers.link}`];
    const content = texts.map((text) => ({ type: 'text' as const, text }));
    return { content, isError: statusCode >= 400 };
  }
}

function requestOf({ method, path, operation }: Tool, values: Arguments): OperationRequest {
  const headers: Record<string, string> = {};
  if (operation.parameters.some(({ name }) => name === IDEMPOTENCY_KEY)) {
    headers[IDEMPOTENCY_KEY] = randomUUID();
  }
  let url = `/v1${path}`;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    // Agents send null for an argument that they leave out.
    if (value === null) continue;
    const text = typeof value === 'string' ? value : stringifyJson(value);
    if (name === IDEMPOTENCY_KEY) headers[name] = keyOf(value);
    else if (path.includes(`{${name}}`)) url = url.replace(`{${name}}`, segmentOf(text));
    // The operation rejects an unknown parameter.
    else if (name !== 'body') query.set(name, text);
  }
  // The operation says what it expects instead of null. Without a body, it would name a header.
  const body = values.body ?? (operation.requestBody?.required ? null : undefined);
  return { method: method.toUpperCase(), url: `${url}?${query}`, headers, body };
}

function keyOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${IDEMPOTENCY_KEY} must be a string`);
  return value;
}

/** @throws for `.` and `..`, which would lead to another operation, also if they were escaped */
function segmentOf(text: string): string {
  if (/^\.\.?$/.test(text)) throw new Error(`A value in the path must not be "${text}"`);
  return encodeURIComponent(text);
}
