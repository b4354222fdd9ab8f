import { usedToday } from '../support/counters.js';
import { unknownKey } from '../support/unknown-key.js';
import type { Answer } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders, headerCounts } from '../support/expectations.js';
import { Random } from '../support/random.js';
import { parseAnswers, sendRaw, shortened } from '../support/raw-answers.js';
import { useService } from '../support/start-service.js';

/** Another seed finds other cases: `HOSTILE_SEED=7 npm run test:long -- hostile`. */
const SEED = Number(process.env['HOSTILE_SEED'] ?? 20_260_615);
const CONNECTIONS = 2_000;
const AT_ONCE = 32;
const words = (text: string): string[] => text.split(' ');

const METHODS = words('GET GET GET POST POST POST PUT DELETE OPTIONS PATCH TRACE SEARCH PROPFIND');
const TARGETS = [
  ...words('/v1/pets /v1/pets /v1/pets/1 /v1/pets/ /v1//pets /v1/PETS /v1/nope /v1/%70ets /v1'),
  ...words('/v1/%zz /v1/%00 /v1/pets/%2F /v1/pets/%ff /%76%31/pets http://evil.example/v1/pets'),
  ...words('/v1/pets?limit=0 /v1/pets?limit=1&limit=2 /v1/pets?cursor=x /v1/pets?__proto__=1'),
  ...words('/v1/pets?a[b]=c /v1/pets?status=sold&limit=5 /v1/pets?%zz /v1/pets?=&&=='),
  ...['a', '9'].map((letter) => `/v1/pets/${letter.repeat(9_000)}`),
];
const VALUES = [
  ...words('0 -0 1.5 1e400 01 .5 NaN 9007199254740993 9223372036854775808 -9223372036854775809'),
  ...words('"" "Rex" "\\u0000" "\\ud800" "\\x" "🐕" null true undefined [] {} [1,] {"a":1,}'),
  ...['', '9'.repeat(5_000), `"${'n'.repeat(256)}"`, `"${'n'.repeat(70_000)}"`],
  ...['[', '{"a":'].map((open) => open.repeat(20_000)),
];
const MEMBERS = words('name categoryId status id __proto__ constructor toString NAME n\\u0061me');
const TYPES = [
  ...words('application/json application/json application/json text/plain application/json5'),
  ...['application/json; charset=utf-16', `application/json${' ; '.repeat(500)}!`, ''],
];
const ODDITIES = [
  ['Idempotency-Key: k', 'Idempotency-Key: l'],
  ['Idempotency-Key: "'],
  ['Content-Encoding: gzip'],
  ['Range: bytes=0-0,9-', 'If-None-Match: *'],
  ['Origin: null', 'Access-Control-Request-Method: x'],
  ['X-Forwarded-For: 999.9.9.9', 'Forwarded: for="', 'X-Original-URL: /health/live'],
  ['X-HTTP-Method-Override: DELETE', `Cookie: ${'a=b; '.repeat(200)}`],
  Array.from({ length: 1_000 }, () => 'a:'),
];

interface HostileRequest {
  hasKey: boolean;
  bytes: Buffer;
}

/** A request of well-formed HTTP, which must get a response, with any other fault. */
function hostileRequest(random: Random, key: string, requestId: string): HostileRequest {
  const method = random.pick(METHODS);
  const hasKey = random.chance(0.7);
  const valid = `Authorization: Bearer ${key}`;
  const invalid = [[], [valid, valid], [`${valid}x`], [`Authorization: Bearer ${unknownKey()}`]];
  const fields = [
    ...['Host: x', `X-Request-Id: ${requestId}`],
    ...(hasKey ? [valid] : random.pick<readonly string[]>(invalid)),
    ...(random.chance(0.3) ? random.pick(ODDITIES) : []),
  ];
  let content: Buffer[] = [];
  if (method === 'POST' || random.chance(0.2)) {
    const body = bodyOf(random);
    fields.push(`Content-Type: ${random.pick(TYPES)}`);
    if (random.chance(0.4)) {
      fields.push('Transfer-Encoding: chunked');
      content = [...chunks(random, body), Buffer.from('0\r\n\r\n')];
    } else {
      fields.push(`Content-Length: ${body.length}`);
      content = [body];
    }
  }
  const head = `${method} ${random.pick(TARGETS)} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`;
  return { hasKey, bytes: Buffer.concat([Buffer.from(head), ...content]) };
}

function bodyOf(random: Random): Buffer {
  const member = () => `"${random.pick(MEMBERS)}":${random.pick(VALUES)}`;
  const members = random.times(random.below(4), member);
  const text = random.pick([
    '{"name":"Rex","categoryId":7}',
    `{"name":"Rex","categoryId":7,${members.join()}}`,
    `{${members.join(random.pick([',', ',,', ' ']))}}`,
    random.pick(VALUES),
    `{${random.times(random.below(3_000), (index) => `"m${index}":${index}`).join()}}`,
  ]);
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && random.chance(0.2)) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

function chunks(random: Random, body: Buffer): Buffer[] {
  const middle = random.below(body.length);
  const parts = [body.subarray(0, middle), body.subarray(middle)].filter(({ length }) => length);
  return parts.map((part) =>
    Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
  );
}

function expectAnswerTo({ hasKey }: HostileRequest, answer: Answer): void {
  expect(answer.status).toBeLessThan(500);
  const repeated = Object.entries(headerCounts(answer)).filter(([, count]) => count > 1);
  expect(repeated).toEqual([]);
  if (answer.status >= 400) expectError(answer, answer.status, answer.json().code as string);
  expectRateHeaders(answer);
  if (hasKey) expect([401, 403, 408, 429]).not.toContain(answer.status);
  else expect(answer.status).toBe(401);
}

describe(`hostile requests (seed ${SEED})`, () => {
  const { service, client } = useService({
    clock: new FakeClock(),
    env: { FAILED_AUTH_PER_MINUTE: '1000000', FAILED_AUTH_PER_DAY: '1000000' },
  });
  beforeAll(() => client.post('/v1/pets', { name: 'Rex', categoryId: 7 }));

  it('each get one response, in their order, and are counted once', async () => {
    const key = client.key!;
    // The first key of a client has the id of the client.
    const used = () => usedToday(service, client.keyId!);
    const before = await used();
    const failures: string[] = [];
    let [next, counted, unread] = [0, 0, 0];
    const worker = async (): Promise<void> => {
      for (let index = next++; index < CONNECTIONS; index = next++) {
        const random = new Random(SEED + index);
        const ids = random.times(1 + random.below(4), (request) => `c${index}-${request}`);
        const requests = ids.map((id) => hostileRequest(random, key, id));
        const lastId = `c${index}-end`;
        const last = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
        const fields = `X-Request-Id: ${lastId}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
        const sent = Buffer.concat([
          ...requests.map(({ bytes }) => bytes),
          Buffer.from(last + fields),
        ]);
        const middle = random.below(sent.length);
        try {
          const parts = [sent.subarray(0, middle), sent.subarray(middle)];
          const answers = parseAnswers(await sendRaw(service.origin, parts, Infinity));
          // A response may close the connection: what follows it gets none.
          const answered = requests.slice(0, answers.length);
          answered.forEach((request, each) => expectAnswerTo(request, answers[each]!));
          expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(
            [...ids, lastId].slice(0, answers.length),
          );
          expect(answers.at(-1)!.headers.connection).toBe('close');
          counted += answered.filter(({ hasKey }) => hasKey).length;
          if (answers.length > requests.length) counted++;
          else unread += 1 + requests.slice(answers.length).filter(({ hasKey }) => hasKey).length;
        } catch (error) {
          failures.push(`${shortened(sent.toString('latin1'))}\n${(error as Error).message}`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(failures.slice(0, 3)).toEqual([]);
    const counts = (await used()) - before;
    expect(counts).toBeGreaterThanOrEqual(counted);
    expect(counts).toBeLessThanOrEqual(counted + unread);
    expect((await client.get('/v1/pets/1')).status).toBe(200);
  }, 600_000);
});
