import type { OpenAPIObject } from '@nestjs/swagger';
import { ERROR_CODES, type ErrorCode } from '../http/api-error.js';

type Responses = Record<string, ResponseObject>;
interface ResponseObject {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
}
interface OperationObject {
  operationId?: string;
  deprecated?: boolean;
  responses: Responses;
}

/** Every header of the API: `[description, schema, example]`. */
const HEADERS = {
  'X-RateLimit-Limit': ['The limit in force for the caller.', integer(1), 60],
  'X-RateLimit-Remaining': ['Requests remaining in the current window.', integer(0), 59],
  'X-RateLimit-Reset': ['Unix timestamp at which the limit resets.', integer(0), 1764892860],
  RateLimit: [
    'What is left of each window, and the seconds until it resets.',
    { type: 'string' },
    '"minute";r=59;t=17,"day";r=999;t=40211',
  ],
  'RateLimit-Policy': [
    'The quota of each window.',
    { type: 'string' },
    '"minute";q=60;w=60,"day";q=1000;w=86400',
  ],
  'X-Request-Id': [
    "Names the request: the caller's own, or a fresh one.",
    { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    '3d6f1f0e-7c1b-4b52-9d3c-0b1f0f3a5f10',
  ],
  'Retry-After': ['Seconds to wait before the request is repeated.', integer(1), 17],
  'WWW-Authenticate': [
    'How to authenticate (RFC 6750).',
    { type: 'string' },
    'Bearer realm="pet-store", error="invalid_token"',
  ],
  Allow: ['The methods that the resource has.', { type: 'string' }, 'GET, HEAD, POST'],
  Link: [
    'Links to other resources (RFC 8288).',
    { type: 'string' },
    '<http://localhost:3000/v1/pets?limit=20&cursor=OjIw>; rel="next"',
  ],
  Location: [
    'The address of the new animal.',
    { type: 'string', format: 'uri' },
    'http://localhost:3000/v1/pets/42',
  ],
  'Idempotent-Replayed': [
    'Sent where this is the answer to an earlier request.',
    { type: 'string', enum: ['true'] },
    'true',
  ],
  Deprecation: [
    'Since when the operation is deprecated (RFC 9745).',
    { type: 'string' },
    '@1764892800',
  ],
  Sunset: [
    'When the operation is to be removed (RFC 8594).',
    { type: 'string' },
    'Thu, 05 Dec 2030 00:00:00 GMT',
  ],
} as const;
type HeaderName = keyof typeof HEADERS;

const ON_EVERY_RESPONSE: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
];

/** What belongs to one status only. */
const BY_STATUS: Record<string, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** What belongs to one operation's success only. */
const BY_OPERATION: Record<string, readonly HeaderName[]> = {
  listPets: ['Link'],
  createPet: ['Location', 'Idempotent-Replayed'],
};

/** Errors that any operation may answer with. */
const ON_EVERY_OPERATION: Record<string, string> = {
  401: 'Missing or invalid API key.',
  405: 'The resource has no such method.',
  429: 'Too many requests; retry after the time given in `Retry-After`.',
  500: 'The service failed; its log names the `X-Request-Id`.',
  503: 'The service cannot answer now; retry after the time given in `Retry-After`.',
};

/** Adds to a generated document what holds for every operation, so that no operation repeats it. */
export function completeDocument(document: OpenAPIObject): OpenAPIObject {
  const components = (document.components ??= {});
  components.headers = Object.fromEntries(
    Object.entries(HEADERS).map(([name, [description, schema, example]]) => [
      name,
      { description, schema, example },
    ]),
  ) as NonNullable<typeof components.headers>;
  components.schemas = {
    ...components.schemas,
    Pets: {
      type: 'array',
      maxItems: 100,
      items: { $ref: '#/components/schemas/Pet' },
      description: 'A page of animals.',
    },
  };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item as Record<string, unknown>)) {
      if (isOperation(operation)) completeOperation(operation);
    }
  }
  return document;
}

function completeOperation(operation: OperationObject): void {
  const { responses } = operation;
  for (const [status, description] of Object.entries(ON_EVERY_OPERATION)) {
    responses[status] ??= { description };
  }
  for (const [status, response] of Object.entries(responses)) {
    const isError = Number(status) >= 400;
    const names = [
      ...ON_EVERY_RESPONSE,
      ...(BY_STATUS[status] ?? []),
      ...(isError ? [] : (BY_OPERATION[operation.operationId ?? ''] ?? [])),
      ...(operation.deprecated ? (['Deprecation', 'Sunset', 'Link'] as const) : []),
    ];
    response.headers = Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    );
    if (isError) response.content = errorContent(Number(status));
    else usePetsSchema(response);
  }
}

/** One example per code of the status. */
function errorContent(status: number): Record<string, unknown> {
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter(
    (code) => ERROR_CODES[code].status === status,
  );
  const examples = Object.fromEntries(
    codes.map((code) => [code, { value: { code, message: ERROR_CODES[code].meaning, status } }]),
  );
  return {
    'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples },
  };
}

/** The specification names the array; the generator writes it out. */
function usePetsSchema(response: ResponseObject): void {
  const media = response.content?.['application/json'] as { schema?: unknown } | undefined;
  if (media === undefined) return;
  const schema = media.schema as { type?: string; items?: { $ref?: string } } | undefined;
  if (schema?.type === 'array' && schema.items?.$ref === '#/components/schemas/Pet') {
    media.schema = { $ref: '#/components/schemas/Pets' };
  }
}

function isOperation(value: unknown): value is OperationObject {
  return typeof value === 'object' && value !== null && 'responses' in value;
}

function integer(minimum: number) {
  return { type: 'integer', minimum };
}
