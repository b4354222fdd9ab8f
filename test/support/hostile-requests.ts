import { METHODS } from 'node:http';
import { mintKey } from '../../src/keys/api-key-format.js';
import { hostileBody } from './hostile-bodies.js';
import { hostileTarget } from './hostile-targets.js';
import type { Random } from './random.js';

/** A request that is well-formed HTTP, so that it must be answered, with any other fault. */
export interface HostileRequest {
  method: string;
  requestId: string;
  /** Whether the target is below `/v1`. */
  isApi: boolean;
  /** Whether it has one valid key. */
  hasKey: boolean;
  /** Whether it offers another protocol: its response closes the connection. */
  offersUpgrade: boolean;
  bytes: Buffer;
}

const CREATION = { target: '/v1/pets', isApi: true };
const ROUTED_METHODS = METHODS.filter((method) => method !== 'CONNECT');

/** @param requestId echoed in the response, to match it with its request */
export function hostileRequest(random: Random, key: string, requestId: string): HostileRequest {
  // The body is only read if everything else is valid.
  const creates = random.chance(0.3);
  const usual = creates ? ['POST'] : ['GET', 'POST'];
  const method = creates || random.chance(0.6) ? random.pick(usual) : random.pick(ROUTED_METHODS);
  const { target, isApi } = creates ? CREATION : hostileTarget(random);
  const { fields: authorization, hasKey } = credentials(random, key);
  const body = hostileBody(random, method === 'POST' ? 0.95 : 0.2);
  const extra = random.chance(0.4) ? oddities(random) : [];
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: x',
    `X-Request-Id: ${requestId}`,
    ...authorization,
    ...extra,
    ...body.fields,
  ].join('\r\n');
  const offersUpgrade = extra.some((field) => field.startsWith('Upgrade:'));
  const bytes = Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body.bytes]);
  return { method, requestId, isApi, hasKey, offersUpgrade, bytes };
}

/** A valid request that closes its connection. */
export function plainRequest(key: string, requestId: string): Buffer {
  return Buffer.from(
    'GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
      `X-Request-Id: ${requestId}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
}

function credentials(random: Random, key: string): { fields: string[]; hasKey: boolean } {
  const valid = `Authorization: ${random.pick(['Bearer', 'bearer', 'BEARER', 'bEaReR'])} ${key}`;
  if (random.chance(0.65)) return { fields: [valid], hasKey: true };
  const fields = random.oneOf<string[]>(
    () => [],
    () => [valid, valid],
    () => [valid, 'authorization: Basic eDp5'],
    () => [`Authorization: Bearer ${mintKey()}`],
    () => [`Authorization: Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    () => [`Authorization: Bearer ${key}${random.pick(['x', ' x', ',', '=', '\x80'])}`],
    () => [
      `Authorization: ${random.pick(['', 'Bearer', 'Bearer ', 'Bearer \xff', 'Bearer null'])}`,
    ],
    () => [`Authorization: ${random.pick(['Basic ', 'Token ', 'Bearer', ''])}${key}`],
    () => [`Authorization: Bearer ${'A'.repeat(random.below(6_000))}`],
    () => [`X-Api-Key: ${key}`, `Cookie: Authorization=Bearer ${key}`],
  );
  return { fields, hasKey: false };
}

function oddities(random: Random): string[] {
  const field = (name: string, ...values: string[]) => [`${name}: ${random.pick(values)}`];
  return random.oneOf<string[]>(
    () => random.times(random.below(1_500), () => 'a:'),
    () => random.times(random.below(40), (index) => `X-${index}: ${'v'.repeat(random.below(300))}`),
    () => ['Host: y', 'Host: z'],
    () => field('Expect', '100-continue', '100-CONTINUE'),
    () =>
      field('Idempotency-Key', '', '"', '""', '"a', 'a\tb', '\xe9', 'k'.repeat(256), 'k', '"k"'),
    () => ['Idempotency-Key: a', 'Idempotency-Key: b'],
    () => ['Connection: HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    () => ['Origin: null', 'Access-Control-Request-Method: \xff'],
    () => ['Range: bytes=0-0,9-', 'If-None-Match: *', 'If-Modified-Since: never'],
    () => ['Accept: text/html;q=x', 'Accept-Encoding: br', 'Accept-Language: \xff'],
    () => field('X-Forwarded-For', '', ',', '1.2.3.4', '999.9.9.9', '::1, x', '\xff'),
    () => ['Forwarded: for="', 'X-Forwarded-Proto: gopher', 'X-Original-URL: /health/live'],
    () => ['X-HTTP-Method-Override: DELETE', `Cookie: ${'a=b; '.repeat(200)}`],
    () => ['Keep-Alive: timeout=0, max=0', 'TE: trailers, deflate;q=', 'Max-Forwards: 0'],
  );
}
