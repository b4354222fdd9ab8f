import { INT64 } from '../core/input/unix-time.js';

const STRING = { type: 'string' };

/** Headers of every response: description, schema, example. */
const ON_EVERY_RESPONSE = {
  'X-RateLimit-Limit': [
    'Limit of the window with the fewest requests left.',
    { ...INT64, minimum: 1 },
    60,
  ],
  'X-RateLimit-Remaining': ['Requests left in that window.', INT64, 59],
  'X-RateLimit-Reset': ['End of that window (Unix time).', INT64, 1764892860],
  RateLimit: [
    'Requests left in each window (`r`), and the seconds until it resets (`t`).',
    STRING,
    '"minute";r=59;t=17,"day";r=999;t=40211',
  ],
  'RateLimit-Policy': [
    'The quota (`q`) and the length in seconds (`w`) of each window.',
    STRING,
    '"minute";q=60;w=60,"day";q=1000;w=86400',
  ],
  'X-Request-Id': [
    'ID of the request: the value of the client if it matches the pattern, otherwise generated.',
    { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    '3d6f1f0e-7c1b-4b52-9d3c-0b1f0f3a5f10',
  ],
};
const HEADERS = {
  ...ON_EVERY_RESPONSE,
  'Retry-After': ['Seconds to wait before a retry.', { type: 'integer', minimum: 1 }, 17],
  'WWW-Authenticate': [
    'Authentication scheme and error (RFC 6750).',
    STRING,
    'Bearer realm="pet-store"',
  ],
  Allow: ['Methods that the resource supports.', STRING, 'GET, HEAD, POST'],
  Link: [
    'Links (RFC 8288): `deprecation` (its documentation), `successor-version` (the replacement).',
    STRING,
    '<http://localhost:3000/v1/pets>; rel="successor-version"',
  ],
  'Idempotent-Replayed': [
    'Present if this is the response to an earlier request with the same Idempotency-Key.',
    { type: 'string', enum: ['true'] },
    'true',
  ],
  ETag: ['Identifies this state of the response, for `If-None-Match`.', STRING, '"nUjsjb3Z"'],
  Deprecation: ['Start of the deprecation (RFC 9745).', STRING, '@1764892800'],
  Sunset: ['The date of removal (RFC 8594).', STRING, 'Thu, 05 Dec 2030 00:00:00 GMT'],
};

const BY_STATUS: Record<string, string[]> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

export function headerReference(name: string): object {
  return { $ref: `#/components/headers/${name}` };
}

/** The components that the headers of responses refer to. */
export function headerComponents(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, [description, schema, example]]) => [
      name,
      { description, ...(name in ON_EVERY_RESPONSE && { required: true }), schema, example },
    ]),
  );
}

/**
 * The headers of a response: those of the service, and those that the operation documents itself.
 */
export function headersOf(
  operation: { parameters?: readonly { name?: string }[]; 'x-sunset'?: unknown },
  status: string,
  hasQuota: boolean,
  own: Record<string, unknown> | undefined,
) {
  const always = hasQuota ? Object.keys(ON_EVERY_RESPONSE) : ['X-Request-Id'];
  const names = [...always, ...(BY_STATUS[status] ?? [])];
  const requested = operation.parameters?.map(({ name }) => name) ?? [];
  if (requested.includes('Idempotency-Key')) {
    if (status === '409') names.push('Retry-After');
    if (Number(status) < 400) names.push('Idempotent-Replayed');
  }
  if (requested.includes('If-None-Match') && /^(?:200|304)$/.test(status)) names.push('ETag');
  // A 405 belongs to the resource, not to the deprecated operation.
  if (operation['x-sunset'] !== undefined && status !== '405') {
    names.push('Deprecation', 'Sunset', 'Link');
  }
  return { ...Object.fromEntries(names.map((name) => [name, headerReference(name)])), ...own };
}
