import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Client } from '../support/client.js';
import { exchange, parseAnswers, sendRaw } from '../support/raw-answers.js';
import { startService, type TestService } from '../support/start-service.js';

/** Below what an HTTP client would send. */
describe('a raw connection', () => {
  let service: TestService;
  let client: Client;
  let key: string;
  beforeAll(async () => {
    service = await startService();
    client = await service.client();
    key = `Authorization: Bearer ${client.key}\r\n`;
  });
  afterAll(() => service?.close());

  const open = (): Socket & Disposable => {
    const { hostname, port } = new URL(service.origin);
    const socket = connect(Number(port), hostname);
    return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
  };
  const send = (text: string, answers?: number): Promise<string> =>
    sendRaw(service.origin, text, answers);

  function expectError(answer: string, status: number, code: string): void {
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/json; charset=utf-8/i);
    expect(head).toMatch(/x-request-id: \S+/i);
    expect(head).toMatch(/x-content-type-options: nosniff/i);
    expect(JSON.parse(body)).toEqual({ code, message: expect.any(String), status });
  }

  function expectRateHeaders(answer: string): void {
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
      expect(answer.match(new RegExp(`^${name}: \\d+\r$`, 'gim'))).toHaveLength(1);
    }
  }

  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['an unknown method', 'BREW /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a bad version', 'GET /v1/pets HTTP/9.9\r\nHost: x\r\n\r\n'],
    [
      'a length and chunks',
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    [
      'two lengths',
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
    ['a bad header', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n'],
  ])('answers %s with 400 malformed_request', async (_what, text) => {
    expectError(await send(text), 400, 'malformed_request');
  });

  it('answers headers over 16 KiB with 431', async () => {
    const answer = await send(
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`,
    );
    expectError(answer, 431, 'header_fields_too_large');
  });

  it('answers a target over 8,000 characters with 414, and one over 16 KiB with 431', async () => {
    const line = (length: number) => `GET /v1/pets?a=${'a'.repeat(length)} HTTP/1.1\r\nHost: x\r\n`;
    const answer = await send(`${line(8_000)}${key}\r\n`);
    expectError(answer, 414, 'uri_too_long');
    expectRateHeaders(answer);
    expectError(await send(`${line(17_000)}${key}\r\n`), 431, 'header_fields_too_large');
  });

  it('finds the key behind 2,100 other fields', async () => {
    const fields = 'a:\r\n'.repeat(2_100);
    const answer = await send(`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}${key}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toMatch(/x-ratelimit-limit: 1000000/);
  });

  it('answers a missing Host and an unknown expectation with the status of Node', async () => {
    expect(await send(`GET /v1/pets HTTP/1.1\r\n${key}\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    expect(await send(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 417 /,
    );
  });

  it('takes an absolute-form target for its path', async () => {
    const answer = await send(`GET http://evil.example/v1/pets HTTP/1.1\r\nHost: x\r\n${key}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).not.toMatch(/evil/);
    const unknown = await send(`DELETE http://evil/v1/pets?x=1 HTTP/1.1\r\nHost: x\r\n${key}\r\n`);
    expectError(unknown, 405, 'method_not_allowed');
    expect(unknown).toMatch(/^allow: GET, HEAD, POST\r$/im);
  });

  it.each(['/v1/%70ets', '/%76%31/pets'])('decodes %s, with a key and without', async (target) => {
    expect(await send(`GET ${target} HTTP/1.1\r\nHost: x\r\n${key}\r\n`)).toMatch(
      /^HTTP\/1.1 200 /,
    );
    expectError(await send(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`), 401, 'missing_api_key');
  });

  it.each(['/V1/pets', '//v1/pets', '/v2/pets', '*', '/v1pets'])(
    'has nothing at %s, and asks nobody for a key there',
    async (target) => {
      expectError(await send(`OPTIONS ${target} HTTP/1.1\r\nHost: x\r\n\r\n`), 404, 'not_found');
    },
  );

  it.each(['/%761/%zz', 'http://h/v1/%zz', '/v1/pets/%'])(
    'asks for a key at %s',
    async (target) => {
      expectError(await send(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`), 401, 'missing_api_key');
      const answer = await send(`GET ${target} HTTP/1.1\r\nHost: x\r\n${key}\r\n`);
      expectError(answer, 400, 'malformed_request');
      expectRateHeaders(answer);
    },
  );

  it('answers an oversized body without a key with 401, and the connection stays usable', async () => {
    const body = 'x'.repeat(200_000);
    const answer = await send(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
        `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${key}\r\n`,
      2,
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it('answers a body that is too large as soon as it is', async () => {
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\n`;
    const declared = await send(`${head}Content-Length: 65537\r\n\r\n`);
    expectError(declared, 413, 'payload_too_large');
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n1\r\n \r\n`;
    const chunked = await send(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
    expectError(chunked, 413, 'payload_too_large');
    expectRateHeaders(chunked);
    const list = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
    const pipelined = `${list}${list}${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`;
    expect((await send(pipelined, 3)).match(/HTTP\/1.1 \d+/g)).toEqual(
      ['200', '200', '413'].map((status) => `HTTP/1.1 ${status}`),
    );
  });

  it('answers a chunk that goes bad while it is read with 400', async () => {
    using socket = open();
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\n` +
        'Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    // It is being read, from now on.
    await once(socket, 'data');
    socket.write('1\r\n{\r\n');
    socket.write('zz\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expectError(answer.toString(), 400, 'malformed_request');
    expectRateHeaders(answer.toString());
    await once(socket, 'close');
  });

  it('takes a body that is sent after 100 Continue', async () => {
    const body = '{"name":"Rex","categoryId":7}';
    const head =
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${key}` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    expect(await send(head + body, 2)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /);
  });

  it('answers a request before it refuses the nonsense that follows it', async () => {
    const request = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
    const answer = await send(`${request}${request}nonsense\r\n\r\n`, 3);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 400',
    ]);
  });

  it.each([
    ['nothing', ''],
    ['another request', 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['nonsense', 'nonsense\r\n\r\n'],
  ])(
    'answers an offer of h2c without the offer, and closes, with %s behind it',
    async (_what, rest) => {
      const offer = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
      const list = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\n${key}${offer}\r\n`;
      const received = await exchange(service.origin, [Buffer.from(list + rest)]);
      const [answer, ...others] = parseAnswers(received);
      expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
      expect(others).toEqual([]);
    },
  );

  it('cuts a client whose headers or whose body do not come with 408', async () => {
    // Of their own: a machine that is busy enough is as slow as such a client.
    await using impatient = await startService({
      env: { HEADERS_TIMEOUT_SECONDS: '1', REQUEST_TIMEOUT_SECONDS: '2' },
    });
    const { key: ours } = await impatient.client();
    const start = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\n';
    const body = 'Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{';
    const [headless, bodiless] = await Promise.all([
      sendRaw(impatient.origin, start),
      sendRaw(impatient.origin, `${start}Authorization: Bearer ${ours}\r\n${body}`),
    ]);
    expectError(headless, 408, 'request_timeout');
    expectError(bodiless, 408, 'request_timeout');
    expectRateHeaders(bodiless);
  });

  it('does without an answer where the client breaks off', async () => {
    using socket = open();
    socket.end(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\n` +
        'Content-Length: 10\r\n\r\n{',
    );
    socket.resume();
    await once(socket, 'close');
    expect((await client.get('/v1/pets')).status).toBe(200);
  });
});
