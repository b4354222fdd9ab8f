import { once } from 'node:events';
import { type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.js';
import { ClientConnections } from './client-connections.js';

const SEND_TIMEOUT_MS = 400;
const LARGE = Buffer.alloc(6 * 1024 * 1024);
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe(ClientConnections.name, () => {
  let server: Server;
  let connections: ClientConnections;
  let sockets: Socket[];
  let started: (() => void)[];

  /** Collects the requests that are started; calling one sends its response. */
  const collect: RequestListener = (_request, response) => {
    started.push(() => response.end('ok'));
  };
  const listen = async (handler: RequestListener, sendTimeoutMs = SEND_TIMEOUT_MS) => {
    connections = new ClientConnections(sendTimeoutMs);
    server = connections.createServer({}, handler);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };
  const open = (text: string): Socket & { text: () => string } => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).write(text);
    sockets.push(socket);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    return Object.assign(socket, { text: () => received });
  };
  const areStarted = (count: number) => eventually(() => Promise.resolve(started.length === count));

  beforeEach(() => {
    [sockets, started] = [[], []];
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('starts pipelined requests one at a time, in their order', async () => {
    await listen(collect);
    open(REQUEST.repeat(3));
    await areStarted(1);
    await delay(50);
    for (const count of [2, 3]) {
      expect(started).toHaveLength(count - 1);
      started.at(-1)!();
      await areStarted(count);
    }
  });

  it('hands over a body in chunks, whether they arrive before it is read or after', async () => {
    await listen((request, response) => {
      started.push(() => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => response.end(body));
      });
    });
    const chunks = (text: string) => [...text].map((each) => `1\r\n${each}\r\n`).join('');
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const socket = open(REQUEST + head + chunks('abc'.repeat(1_000)));
    await areStarted(1);
    started[0]!();
    await areStarted(2);
    socket.write(chunks('def'.repeat(30_000)));
    await delay(20);
    started[1]!();
    socket.write(`${chunks('ghi')}0\r\n\r\n`);
    const body = `${'abc'.repeat(1_000)}${'def'.repeat(30_000)}ghi`;
    await eventually(() => Promise.resolve(socket.text().endsWith(body.slice(-9))));
    expect(socket.text()).toContain(body.slice(0, 3_003));
    expect(socket.text().split('\r\n\r\n')[2]).toHaveLength(body.length);
  });

  it('disconnects a client with more than 32 requests ahead of their responses', async () => {
    await listen(collect);
    const polite = open(REQUEST.repeat(32));
    const greedy = open(REQUEST.repeat(33));
    await once(greedy, 'close');
    const expectant = REQUEST.replace('Host', 'Expect: x\r\nHost');
    await once(open(REQUEST + expectant.repeat(32)), 'close');
    for (let count = 1; polite.text().split('HTTP/1.1 200').length <= 32; count++) {
      started.shift()?.();
      await delay(1);
      expect(count).toBeLessThan(5_000);
    }
    expect(polite.destroyed).toBe(false);
  });

  it('parses no further request of a client that it disconnects', async () => {
    let parsed = 0;
    await listen(collect);
    server.on('request', () => parsed++);
    await once(open(REQUEST.repeat(2_000)), 'close');
    expect(parsed).toBe(33);
    const next = open(REQUEST);
    await areStarted(2);
    started[1]!();
    await eventually(() => Promise.resolve(next.text().endsWith('ok')));
  });

  it('rejects a malformed message once, after the earlier response', async () => {
    await listen(collect);
    const socket = open(`${REQUEST}nonsense\r\n\r\n`);
    await areStarted(1);
    socket.write('more nonsense\r\n\r\n');
    await delay(50);
    started[0]!();
    await once(socket, 'close');
    expect(socket.text()).toMatch(/^HTTP\/1\.1 200 [^]*okHTTP\/1\.1 400 [^]*}$/);
  });

  it('sends one response to a request whose body becomes malformed after it', async () => {
    await listen((_request, response) => response.end('ok'));
    const socket = open('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    await eventually(() => Promise.resolve(socket.text().endsWith('ok')));
    socket.write('not a chunk\r\n');
    await once(socket, 'close');
    expect(socket.text().split('HTTP/1.1')).toHaveLength(2);
  });

  it.each([
    ['sends nothing', () => undefined],
    ['sends a byte now and then', (socket: Socket) => void socket.write('x')],
  ])('disconnects a client that reads nothing for the send timeout and %s', async (_what, send) => {
    await listen((_request, response) => response.end(LARGE));
    const closed = new Promise((resolve) =>
      server.once('connection', (socket) => socket.once('close', resolve)),
    );
    const socket = open(REQUEST);
    socket.pause();
    const timer = setInterval(() => send(socket), 50);
    const startMs = performance.now();
    await closed;
    clearInterval(timer);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(SEND_TIMEOUT_MS);
  });

  it('serves a client that reads slowly, and its next request', async () => {
    await listen((_request, response) => response.end(LARGE), 1_000);
    const socket = open(REQUEST);
    let size = 0;
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // 6 MB in about two send timeouts.
      socket.pause();
      setTimeout(() => socket.resume(), chunk.length / 3_000);
    });
    await eventually(() => Promise.resolve(size > LARGE.length), 20_000);
    size = 0;
    socket.write(REQUEST);
    await eventually(() => Promise.resolve(size > LARGE.length), 20_000);
  });

  it('does not disconnect the client of a slow handler', async () => {
    await listen((_request, response) => {
      setTimeout(() => response.end('late'), 2 * SEND_TIMEOUT_MS);
    });
    const socket = open(REQUEST);
    await eventually(() => Promise.resolve(socket.text().endsWith('late')));
  });

  it('responds to the requests that have arrived, then closes, when it drains', async () => {
    await listen(collect);
    const idle = open(REQUEST);
    await areStarted(1);
    started.pop()!();
    const busy = open(REQUEST);
    await areStarted(1);
    const drained = connections.drain(performance.now() + 20_000);
    await once(idle, 'close');
    started[0]!();
    await drained;
    await eventually(() => Promise.resolve(busy.text().startsWith('HTTP/1.1 200 ')));
  });

  it('does not cut a response that a client still reads when it drains', async () => {
    await listen((_request, response) => response.end(LARGE));
    const socket = open(REQUEST);
    socket.pause();
    await delay(100);
    const drained = connections.drain(performance.now() + 20_000);
    await delay(300);
    socket.resume();
    await drained;
    await eventually(() => Promise.resolve(socket.text().length > LARGE.length));
  });

  it.each([
    ['unfinished connections', REQUEST],
    ['also those with a CONNECT', `${REQUEST}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('closes %s at the deadline of a drain', async (_which, text) => {
    await listen(collect);
    const socket = open(text);
    await areStarted(1);
    await connections.drain(performance.now() + 300);
    await eventually(() => Promise.resolve(socket.destroyed));
  });
});
