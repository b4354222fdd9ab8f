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
    'Bearer realm="pet-store"',
  ],
  ScopeChallenge: [
    'Which scopes the operation needs (RFC 6750).',
    { type: 'string' },
    'Bearer realm="pet-store", error="insufficient_scope", scope="pets:write"',
  ],
  Allow: ['The methods that the resource has.', { type: 'string' }, 'GET, HEAD, POST'],
  DeprecationLink: [
    'What replaces the operation, and what to know of its end (RFC 8288).',
    { type: 'string' },
    '<http://localhost:3000/v1/pets>; rel="successor-version", <http://localhost:3000/docs>; rel="deprecation"; type="text/html"',
  ],
  ErrorLink: [
    'What to do about the error, in the guide for clients (RFC 8288).',
    { type: 'string' },
    '<http://localhost:3000/docs/guides/clients#idempotency_key_reused>; rel="describedby"; type="text/html"',
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
  403: ['ScopeChallenge'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Under another name than the field's, since an operation may have a `Link` of its own. */
const FIELD_NAMES: Partial<Record<HeaderName, string>> = {
  ScopeChallenge: 'WWW-Authenticate',
  DeprecationLink: 'Link',
  ErrorLink: 'Link',
};
/** Link and challenge are for our codes; a guest's operation may have codes of its own beside them. */
const SOMETIMES: readonly HeaderName[] = ['Idempotent-Replayed', 'ErrorLink', 'ScopeChallenge'];

/** The headers as components, each defined once. */
export function headerComponents(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, [description, schema, example]]) => [
      name,
      {
        description,
        ...(!SOMETIMES.includes(name as HeaderName) && { required: true }),
        schema,
        example,
      },
    ]),
  );
}

/** The headers of one response: references to those that the service adds, and what it declares itself. */
export function headersOf(
  operation: { parameters?: readonly { name?: string }[]; 'x-sunset'?: unknown },
  status: string,
  isOpen: boolean,
  own: Record<string, unknown> = {},
): Record<string, unknown> {
  const isIdempotent = operation.parameters?.some(({ name }) => name === 'Idempotency-Key');
  const everywhere: readonly HeaderName[] = isOpen ? ['X-Request-Id'] : ON_EVERY_RESPONSE;
  const names: HeaderName[] = [...everywhere, ...(BY_STATUS[status] ?? [])];
  if (isIdempotent && status === '409') names.push('Retry-After');
  if (isIdempotent && ['409', '422', 'default'].includes(status)) names.push('ErrorLink');
  if (isIdempotent && Number(status) < 400) names.push('Idempotent-Replayed');
  // A wrong method is answered for the resource, of which no operation is asked for.
  if (operation['x-sunset'] !== undefined && status !== '405') {
    names.push('Deprecation', 'Sunset', 'DeprecationLink');
  }
  const ours = names.map((name): [string, unknown] => [
    FIELD_NAMES[name] ?? name,
    { $ref: `#/components/headers/${name}` },
  ]);
  return { ...Object.fromEntries<unknown>(ours), ...own };
}

function integer(minimum: number) {
  return { type: 'integer', minimum };
}
