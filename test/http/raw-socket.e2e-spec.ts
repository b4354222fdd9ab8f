import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { parseAnswers, sendRaw } from '../support/raw-answers.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService, useService } from '../support/start-service.js';

/** HTTP that an HTTP client would not send. */
describe('a raw connection', () => {
  const { service, client } = useService();
  let key: string;
  beforeAll(() => (key = `Authorization: Bearer ${client.key}\r\n`));

  const head = (line: string, fields = '') => `${line} HTTP/1.1\r\nHost: x\r\n${fields}`;
  const message = (line: string, fields = '', body = '') => `${head(line, fields)}\r\n${body}`;
  const list = () => message('GET /v1/pets?limit=1', key);
  const create = (fields: string, body = '') =>
    message('POST /v1/pets', `${key}Content-Type: application/json\r\n${fields}\r\n`, body);
  const sized = (body: string) => create(`Content-Length: ${body.length}`, body);
  const chunked = (...chunks: string[]) =>
    create(
      'Transfer-Encoding: chunked',
      chunks.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join(''),
    );
  const send = (text: string, answers?: number) => sendRaw(service.origin, text, answers);
  const answerTo = async (text: string) => parseAnswers(await send(text))[0]!;
  const statusesOf = (answers: string) =>
    Array.from(answers.matchAll(/HTTP\/1.1 (\d+)/g), ([, status]) => Number(status));
  const open = (): Socket & Disposable => {
    const { hostname, port } = new URL(service.origin);
    const socket = connect(Number(port), hostname);
    return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
  };

  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['an unknown method', message('BREW /v1/pets')],
    ['CONNECT', message('CONNECT /v1/pets')],
    ['an unknown version', 'GET /v1/pets HTTP/9.9\r\nHost: x\r\n\r\n'],
    [
      'a length and chunks',
      message('POST /v1/pets', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'),
    ],
    ['two lengths', message('POST /v1/pets', 'Content-Length: 1\r\nContent-Length: 2\r\n')],
    ['an invalid header', message('GET /v1/pets', 'Bad Header: x\r\n')],
    ['an invalid authority', message('GET http://[/v1/pets')],
    ['no Host', 'GET /v1/pets HTTP/1.1\r\n\r\n'],
    ['a second Host', message('GET /v1/pets', 'Host: x\r\n')],
    ['a second Host, at a probe', message('GET /health/live', 'Host: y\r\n')],
    ['an empty second Host', message('GET /docs', 'Host:\r\n')],
    ['an invalid Host', 'GET /v1/pets HTTP/1.1\r\nHost: a b/c\r\n\r\n'],
    ['chunks of HTTP/1.0', 'POST /v1/pets HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [
      'an unknown coding',
      message('POST /v1/pets', 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
    ],
  ])('responds to %s with 400 malformed_request', async (_what, text) => {
    expectError(await answerTo(text), 400, 'malformed_request');
  });

  it('rejects a target over 8,000 characters (414) and headers over 16 KiB (431)', async () => {
    const target = (length: number) => `GET /v1/pets?a=${'a'.repeat(length)}`;
    const answer = await answerTo(message(target(8_000), key));
    expectError(answer, 414, 'uri_too_long');
    expectRateHeaders(answer);
    for (const text of [
      message(target(17_000), key),
      message('GET /', `X-A: ${'a'.repeat(17_000)}\r\n`),
    ]) {
      expectError(await answerTo(text), 431, 'header_fields_too_large');
    }
  });

  it('finds the key behind 2,100 other fields', async () => {
    const answer = await send(message('GET /v1/pets', 'a:\r\n'.repeat(2_100) + key));
    expect(statusesOf(answer)).toEqual([200]);
    expect(answer).toMatch(/x-ratelimit-limit: 1000000/);
  });

  it('responds to an unknown expectation (417) as Node does', async () => {
    expect(statusesOf(await send(message('GET /v1/pets', 'Expect: x\r\n')))).toEqual([417]);
  });

  it.each(['1.0\r\n', '1.0\r\nHost:\r\n', '1.1\r\nHost:\r\n'])('accepts HTTP/%j', async (text) => {
    expect(statusesOf(await send(`GET /v1/pets HTTP/${text}${key}\r\n`))).toEqual([200]);
  });

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['no Host, with Expect: 100-continue', 'GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n'],
    // The server reads 64 KiB at once.
    [
      'a second Host and a large body',
      message('POST /', 'Host: x\r\nContent-Length: 70000\r\n', 'x'.repeat(70_000)),
    ],
  ])('executes nothing behind a request that it rejects for %s', async (_what, rejected) => {
    const body = '{"name":"Rex","categoryId":7}';
    const fields = `Idempotency-Key: "${randomUUID()}"\r\nContent-Length: ${body.length}`;
    const answers = parseAnswers(await send(list() + rejected + create(fields, body), 9));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    const first = await answerTo(create(fields, body));
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([201, undefined]);
  });

  it('uses the path of an absolute target', async () => {
    const answer = await send(message('GET http://evil.example/v1/pets', key));
    expect(statusesOf(answer)).toEqual([200]);
    expect(answer).not.toMatch(/evil/);
    const unknown = await answerTo(message('DELETE http://evil/v1/pets?x=1', key));
    expectError(unknown, 405, 'method_not_allowed');
    expect(unknown.headers.allow).toBe('GET, HEAD, POST');
  });

  it.each(['/v1/%70ets', '/%76%31/pets'])('decodes %s, with a key and without', async (target) => {
    expect(statusesOf(await send(message(`GET ${target}`, key)))).toEqual([200]);
    expectError(await answerTo(message(`GET ${target}`)), 401, 'missing_api_key');
  });

  it.each(['/V1/pets', '//v1/pets', '/v2/pets', '*', '/v1pets'])(
    'responds to %s with 404, without a key',
    async (target) => {
      expectError(await answerTo(message(`OPTIONS ${target}`)), 404, 'not_found');
    },
  );

  it.each(['/%761/%zz', 'http://h/v1/%zz', '/v1/pets/%'])(
    'requires a key at %s',
    async (target) => {
      expectError(await answerTo(message(`GET ${target}`)), 401, 'missing_api_key');
      const answer = await answerTo(message(`GET ${target}`, key));
      expectError(answer, 400, 'malformed_request');
      expectRateHeaders(answer);
    },
  );

  it('responds to pipelined requests in order, then to a malformed message behind them', async () => {
    const pet = '{"name":"Rex",\r\n\r\n"categoryId":7}';
    const bad = message('GET /v1/pets/%zz', key);
    const round = [list(), sized(pet), chunked(pet, ''), sized('\r\n\r\n'), bad].join('');
    const answers = await send(`${round.repeat(4)}nonsense\r\n\r\n`, 21);
    const statuses = Array.from({ length: 4 }, () => [200, 201, 201, 400, 400]).flat();
    expect(statusesOf(answers)).toEqual([...statuses, 400]);
  });

  it('gives the same cursor to a list behind another request', async () => {
    const linkOf = (answers: string) => /^link: (.*)$/m.exec(answers)?.[1];
    const alone = linkOf(await send(list()));
    expect(alone).toContain('cursor=');
    expect(linkOf(await send(message('GET /v1/nope', key) + list(), 2))).toBe(alone);
  });

  it('responds to an oversized body without a key with 401, and keeps the connection', async () => {
    const length = 'Content-Length: 200000\r\n';
    const unknown = message('POST /v1/pets', length, 'x'.repeat(200_000));
    expect(statusesOf(await send(unknown + list(), 2))).toEqual([401, 200]);
  });

  it('rejects a body as soon as it is too large', async () => {
    const length = 'Content-Length: 65537\r\n';
    expectError(await answerTo(message('POST /v1/nope', key + length)), 404, 'not_found');
    expectError(await answerTo(message('PUT /v1/pets', key + length)), 405, 'method_not_allowed');
    expectError(await answerTo(create('Content-Length: 65537')), 413, 'payload_too_large');
    const fitting = '{"name":"Rex","categoryId":7}'.padEnd(65_536);
    expect(statusesOf(await send(sized(fitting)))).toEqual([201]);
    const large = chunked(' '.repeat(0x10000), ' ');
    const answer = await answerTo(large);
    expectError(answer, 413, 'payload_too_large');
    expectRateHeaders(answer);
    expect(statusesOf(await send(list() + list() + large, 3))).toEqual([200, 200, 413]);
  });

  it('rejects a malformed chunk of a body that it is reading with 400', async () => {
    using socket = open();
    socket.write(create('Expect: 100-continue\r\nTransfer-Encoding: chunked'));
    // It is being read, from now on.
    await once(socket, 'data');
    socket.write('1\r\n{\r\n');
    socket.write('zz\r\n');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    const [answer] = parseAnswers(bytes.toString('latin1'));
    expectError(answer!, 400, 'malformed_request');
    expectRateHeaders(answer!);
    await once(socket, 'close');
  });

  const broken = () => create('Transfer-Encoding: chunked', 'zz\r\n');

  it('rejects a malformed body right after the response to the earlier request', async () => {
    const answers = parseAnswers(await send(list() + broken(), 2));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expectRateHeaders(answers[1]!);
  });

  it('rejects each of 40 malformed or cut-off bodies that arrive at the same time', async () => {
    const cutOff = create('Content-Length: 9', '{');
    const texts = Array.from({ length: 20 }, () => [broken(), list() + cutOff]).flat();
    const sockets = texts.map(open);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    // The server has accepted them, so that it reads all requests in one tick.
    await client.get('/v1/pets');
    const answers = await Promise.all(
      sockets.map(async (socket, index) => {
        let received = '';
        socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
        socket.end(texts[index]!);
        await once(socket, 'close');
        return statusesOf(received);
      }),
    );
    expect(answers).toEqual(texts.map((text) => (text === broken() ? [400] : [200, 400])));
  });

  it('accepts a body that is sent after 100 Continue', async () => {
    const body = '{"name":"Rex","categoryId":7}';
    const text = create(`Expect: 100-continue\r\nContent-Length: ${body.length}`, body);
    expect(statusesOf(await send(text, 2))).toEqual([100, 201]);
  });

  it.each([
    ['nothing', ''],
    ['another request', message('GET /health/live')],
    ['nonsense', 'nonsense\r\n\r\n'],
  ])(
    'ignores an upgrade to h2c with %s behind it, responds, and closes the connection',
    async (_what, rest) => {
      const offer = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
      const answers = await send(message('GET /v1/pets', key + offer) + rest, 2);
      expect(statusesOf(answers)).toEqual([200]);
      expect(answers).toMatch(/^connection: close\r$/im);
    },
  );

  it('disconnects a client whose headers or body do not arrive, with 408', async () => {
    // A service of its own: a busy machine may be as slow as such a client.
    await using impatient = await startService({
      env: { HEADERS_TIMEOUT_SECONDS: '1', REQUEST_TIMEOUT_SECONDS: '2' },
    });
    const { key: ours } = await impatient.client();
    const fields = `Authorization: Bearer ${ours}\r\nContent-Type: application/json\r\n`;
    const [headless, bodiless] = await Promise.all([
      sendRaw(impatient.origin, head('POST /v1/pets')),
      sendRaw(impatient.origin, message('POST /v1/pets', `${fields}Content-Length: 9\r\n`, '{')),
    ]);
    for (const answer of parseAnswers(headless + bodiless)) {
      expectError(answer, 408, 'request_timeout');
    }
    expectRateHeaders(parseAnswers(bodiless)[0]!);
  });

  it('logs a line at info for a client that leaves before its response, whatever it sent', async () => {
    const { logger, lines } = recordedLog();
    await using watched = await startService({ logger });
    const { key: ours } = await watched.client();
    const { hostname, port } = new URL(watched.origin);
    const length = 'Content-Length: 5\r\n';
    const upgrade = 'Connection: upgrade\r\nUpgrade: x\r\n';
    const fields = `Authorization: Bearer ${ours}\r\nContent-Type: application/json\r\n`;
    const ids = ['up-nothing', 'up-pets', 'part', 'get'];
    const id = (name: string) => `X-Request-Id: ${name}\r\n`;
    for (const text of [
      message('POST /nothing', id('up-nothing') + upgrade + length),
      message('POST /v1/pets', id('up-pets') + upgrade + fields + length),
      message('POST /v1/pets', id('part') + fields + length, '{'),
      message('GET /v1/pets', id('get') + fields),
    ]) {
      for (const leave of ['end', 'resetAndDestroy'] as const) {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined).resume();
        await once(socket, 'connect');
        socket.write(text);
        const closed = once(socket, 'close');
        socket[leave]();
        await closed;
      }
    }
    // A reset may overtake the request.
    const isLogged = (requestId: string) =>
      lines.some(({ level, details }) => level === 'info' && details.requestId === requestId);
    await eventually(() => Promise.resolve(ids.every(isLogged)));
    expect(lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });

  it('logs no response that a client with too many requests does not get', async () => {
    const { logger, lines } = recordedLog();
    await using watched = await startService({ logger });
    const { key: ours } = await watched.client();
    const first = message('GET /v1/pets', `Authorization: Bearer ${ours}\r\n`);
    await expect(sendRaw(watched.origin, first.repeat(33), 33)).rejects.toThrow('Fewer than 33');
    const logged = (text: string) => lines.filter((line) => line.message === text);
    await eventually(() => Promise.resolve(logged('client left').length === 1));
    expect(logged('request')).toEqual([]);
  });

  it('serves others after a client that disconnects in the middle of its body', async () => {
    using socket = open();
    socket.end(create('Content-Length: 10', '{'));
    socket.resume();
    await once(socket, 'close');
    expect((await client.get('/v1/pets')).status).toBe(200);
  });
});
