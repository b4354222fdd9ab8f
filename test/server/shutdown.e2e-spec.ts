import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startService, type TestService } from '../support/start-service.js';

describe('a shutdown', () => {
  let service: TestService;
  let key: string;
  beforeEach(async () => {
    service = await startService();
    key = `Authorization: Bearer ${(await service.client()).key}\r\n`;
  });
  afterEach(() => service.close());

  async function open(text: string): Promise<{ socket: Socket; received: () => string }> {
    const { hostname, port } = new URL(service.origin);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    await pause(50);
    return { socket, received: () => received };
  }
  const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

  it('answers what it has accepted, and says that the connection ends', async () => {
    const body = '{"name":"Rex","categoryId":7}';
    const { socket, received } = await open(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n`,
    );
    const ready = await open('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(ready.received()).toMatch(/^HTTP\/1.1 200 /);
    const closing = service.store.close();
    await pause(50);
    // A connection that is open still can ask, and is told to go elsewhere.
    ready.socket.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(ready.socket, 'close');
    expect(ready.received()).toMatch(/HTTP\/1.1 503 [^]*connection: close[^]*"unavailable"/i);

    socket.write(body);
    await once(socket, 'close');
    expect(received()).toMatch(/^HTTP\/1.1 201 /);
    await closing;
  });

  it('takes no new connection', async () => {
    const { socket } = await open('GET /health/live HTTP/1.1\r\n');
    const closing = service.store.close();
    await pause(20);
    await expect(service.anonymous().get('/health/live')).rejects.toThrow(/ECONNREFUSED/);
    socket.destroy();
    await closing;
  });

  it('closes idle connections, and cuts half-open ones when its time is over', async () => {
    const idle = await open('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    const half = await open('GET /v1/pets HTTP/1.1\r\nHost: x\r\n');
    const closed = Promise.all([once(idle.socket, 'close'), once(half.socket, 'close')]);
    await service.store.close();
    await closed;
    expect(idle.received()).toMatch(/^HTTP\/1.1 200 /);
    expect(half.received()).toBe('');
  });

  it('is one, however often it is asked for', async () => {
    await Promise.all([service.store.close(), service.store.close()]);
  });
});
