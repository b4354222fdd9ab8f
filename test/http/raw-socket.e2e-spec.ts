import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Client } from '../support/client.js';
import { sendRaw } from '../support/raw-answers.js';
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
    ['a tunnel', 'CONNECT /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('answers %s with 400 malformed_request', async (_what, text) => {
    expectError(await send(text), 400, 'malformed_request');
  });

  it('answers headers over 16 KiB with 431', async () => {
    const answer = await send(
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`,
    );
    expectError(answer, 431, 'header_fields_too_large');
  });

  it('answers a target over 16 KiB with 414, as a shorter one', async () => {
    const line = (length: number) => `GET /v1/pets?a=${'a'.repeat(length)} HTTP/1.1\r\nHost: x\r\n`;
    const answer = await send(`${line(8_000)}${key}\r\n`);
    expectError(answer, 414, 'uri_too_long');
    expectRateHeaders(answer);
    expectError(await send(`${line(17_000)}${key}\r\n`), 414, 'uri_too_long');
  });

  it('finds the key behind 2,100 other fields, and refuses them by their number', async () => {
    const fields = 'a:\r\n'.repeat(2_100);
    const answer = await send(`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}${key}\r\n`);
    expectError(answer, 431, 'header_fields_too_large');
    expectRateHeaders(answer);
    expect(answer).toMatch(/x-ratelimit-limit: 1000000/);
  });

  it('asks for the key before it asks for the Host', async () => {
    expectError(await send('GET /v1/pets HTTP/1.1\r\n\r\n'), 401, 'missing_api_key');
    const answer = await send(`GET /v1/pets HTTP/1.1\r\n${key}\r\n`);
    expectError(answer, 400, 'malformed_request');
    expectRateHeaders(answer);
  });

  it.each([
    ['two Host fields', 'Host: x\r\nhost: x\r\n'],
    ['two Content-Type fields', 'Host: x\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n'],
    ['another coding', 'Host: x\r\nTransfer-Encoding: gzip\r\n'],
    ['a coding within another', 'Host: x\r\nTransfer-Encoding: gzip, chunked\r\n'],
  ])('answers %s with 400, after it has asked for the key', async (_what, fields) => {
    const start = `POST /v1/pets HTTP/1.1\r\n${fields}`;
    const body = fields.includes('Transfer') ? '0\r\n\r\n' : '';
    expectError(await send(`${start}\r\n${body}`), 401, 'missing_api_key');
    const answer = await send(`${start}${key}\r\n${body}`);
    expectError(answer, 400, 'malformed_request');
    expectRateHeaders(answer);
  });

  it('tells whose target cannot be decoded what it tells everyone of that operation', async () => {
    const answer = await send(`GET /v1/pets/%zz HTTP/1.1\r\nHost: x\r\n${key}\r\n`);
    expectError(answer, 400, 'malformed_request');
    for (const name of ['deprecation: @', 'sunset: ', 'link: ']) {
      expect(answer.toLowerCase()).toContain(`\r\n${name}`);
    }
  });

  it('does without a Host in HTTP/1.0', async () => {
    expect(await send(`GET /v1/pets HTTP/1.0\r\n${key}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each(['0.9', '2.0'])('refuses HTTP/%s, after it has asked for the key', async (version) => {
    const line = `GET /v1/pets HTTP/${version}\r\n`;
    expectError(await send(`${line}\r\n`), 401, 'missing_api_key');
    const answer = await send(`${line}Host: x\r\n${key}\r\n`);
    expectError(answer, 400, 'malformed_request');
    expectRateHeaders(answer);
  });

  it('refuses two Authorization fields, even equal ones', async () => {
    const answer = await send(`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${key}${key}\r\n`);
    expectError(answer, 401, 'invalid_api_key');
    expect(answer).toMatch(/www-authenticate: Bearer realm="pet-store", error="invalid_token"\r/i);
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

  it.each(['*v1/pets', '*openapi.json', 'ftp://h/v1/pets'])(
    'refuses the target %s, which the router alone can read',
    async (target) => {
      const answer = await send(`GET ${target} HTTP/1.1\r\nHost: x\r\n${key}\r\n`);
      expectError(answer, 400, 'malformed_request');
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

  it('asks nobody for a key at a bad path outside the API', async () => {
    expectError(await send('GET /docs/%zz HTTP/1.1\r\nHost: x\r\n\r\n'), 400, 'malformed_request');
  });

  it('passes %00 through as part of an id', async () => {
    expectError(
      await send(`GET /v1/pets/1%00 HTTP/1.1\r\nHost: x\r\n${key}\r\n`),
      404,
      'pet_not_found',
    );
  });

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

  it('answers a bad chunk with 400, and with the headers of its caller', async () => {
    const head = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const chunk = 'Transfer-Encoding: chunked\r\n\r\nzz\r\n';
    const answer = await send(head + key + chunk);
    expectError(answer, 400, 'malformed_request');
    expectRateHeaders(answer);
    expectError(await send(head + chunk), 401, 'missing_api_key');
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

  it('asks for a body that is expected only where it is wanted', async () => {
    const head = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n';
    const body = '{"name":"Rex","categoryId":7}';
    const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    expect(await send(head + length)).toMatch(/^HTTP\/1.1 401 /);
    const wanted = await send(head + key + length);
    expect(wanted).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n/);
    const given = await send(head + key + length + body, 2);
    expect(given).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /);
  });

  it('answers pipelined requests in their order', async () => {
    const one = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
    const two = `GET /v1/nope HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
    const answer = await send(one + two + one, 3);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 404',
      'HTTP/1.1 200',
    ]);
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

  it.each(['h2c', 'websocket'])('goes on in HTTP/1.1 with who offers %s', async (protocol) => {
    using socket = open();
    const offer = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
    for (let request = 0; request < 2; request++) {
      socket.write(`GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\n${key}${offer}\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    }
  });

  it('answers what comes in one packet with an offer to change the protocol', async () => {
    const offer = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
    const list = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\n${key}`;
    const body = '{"name":"Rex","categoryId":7}';
    const create =
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n`;
    const answer = await send(
      `${list}${offer}\r\n${list}\r\n${create}${offer}\r\n${body}${list}${offer}\r\n${list}\r\n`,
      5,
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 201',
      'HTTP/1.1 200',
      'HTTP/1.1 200',
    ]);
  });

  it('takes the body of what follows such an offer for a body, though it looks like a request', async () => {
    const smuggled = `DELETE /v1/pets HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
    const offer = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
    using socket = open();
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    socket.write(
      `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\n${key}${offer}\r\n` +
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\n` +
        `Content-Length: ${smuggled.length}\r\n\r\n`,
    );
    // The body is in a packet of its own.
    await once(socket, 'data');
    socket.write(smuggled);
    socket.end(`GET /v1/nope HTTP/1.1\r\nHost: x\r\n${key}Connection: close\r\n\r\n`);
    await once(socket, 'close');
    expect(received.match(/HTTP\/1.1 \d+|"code":"\w+"/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 400',
      '"code":"malformed_json"',
      'HTTP/1.1 404',
      '"code":"not_found"',
    ]);
  });

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
