import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Module, type OnModuleDestroy } from '@nestjs/common';
import { eventually } from '../support/eventually.js';
import { startService, type TestService } from '../support/start-service.js';

describe('a shutdown', () => {
  async function open(
    { origin }: TestService,
    text: string,
  ): Promise<{ socket: Socket; received: () => string }> {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    return { socket, received: () => received };
  }

  /**
   * Resolves when everything sent so far is read, because a later request of another client has
   * its response.
   */
  async function allIsRead(service: TestService): Promise<void> {
    const other = service.anonymous();
    expect((await other.get('/health/live')).status).toBe(200);
    other.close();
  }

  it('responds to accepted requests, and closes the connection with the last response', async () => {
    // The test does not wait for the end of the grace period.
    await using service = await startService({ env: { SHUTDOWN_GRACE_SECONDS: '60' } });
    const { key } = await service.client();
    const body = '{"name":"Rex","categoryId":7}';
    const { socket, received } = await open(
      service,
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await allIsRead(service);
    const ready = await open(service, 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(ready.socket, 'data');
    expect(ready.received()).toMatch(/^HTTP\/1.1 200 /);
    const closing = service.store.close();
    // An open connection still gets a response, and is closed when it is idle.
    ready.socket.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(ready.socket, 'close');
    expect(ready.received()).toMatch(/HTTP\/1.1 503 [^]*"unavailable"/);
    socket.write(body + 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
    await once(socket, 'close');
    const fields = received().match(/(?<=HTTP\/1.1 )\d+|(?<=^connection: ).*/gim);
    expect(fields?.join(' ')).toBe('201 keep-alive 200 keep-alive 200 close');
    await closing;
  });

  it('accepts no new connection', async () => {
    await using service = await startService();
    const { socket } = await open(service, 'GET /health/live HTTP/1.1\r\n');
    const closing = service.store.close();
    const isClosed = () =>
      service
        .anonymous()
        .get('/health/live')
        .then(() => false)
        .catch(({ message }: Error) => message.includes('ECONNREFUSED'));
    await eventually(isClosed);
    socket.destroy();
    await closing;
  });

  it('leaves time to save data, even if a client keeps its connection open', async () => {
    let isSaved = false;
    @Module({})
    class SavingModule implements OnModuleDestroy {
      async onModuleDestroy(): Promise<void> {
        await pause(100);
        isSaved = true;
      }
    }
    await using service = await startService({
      extensions: [{ module: SavingModule }],
      env: { SHUTDOWN_GRACE_SECONDS: '3' },
    });
    await open(service, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n');
    await allIsRead(service);
    await service.store.close();
    expect(isSaved).toBe(true);
  });
});
