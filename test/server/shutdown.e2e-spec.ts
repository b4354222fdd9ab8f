import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Module, type OnModuleDestroy } from '@nestjs/common';
import { eventually } from '../support/eventually.js';
import { startService, type TestService } from '../support/start-service.js';

const MORE_THAN_IN_A_TURN = 20;

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

  /** Resolves when everything sent so far is read, because a later request of another client is answered. */
  async function allIsRead(service: TestService): Promise<void> {
    const other = service.anonymous();
    expect((await other.get('/health/live')).status).toBe(200);
    other.close();
  }

  it('answers what it has accepted, and says that the connection ends', async () => {
    // As long as it takes: nothing of this waits for the end of it.
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
    // A connection that is open still can ask, and is told to go elsewhere.
    ready.socket.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(ready.socket, 'close');
    expect(ready.received()).toMatch(/HTTP\/1.1 503 [^]*connection: close[^]*"unavailable"/i);

    socket.write(body);
    await once(socket, 'close');
    expect(received()).toMatch(/^HTTP\/1.1 201 /);
    await closing;
  });

  it('answers whoever has connected before, in however many turns all are accepted', async () => {
    await using service = await startService();
    const { key } = await service.client();
    const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const { hostname, port } = new URL(service.origin);
    const received = Array.from({ length: MORE_THAN_IN_A_TURN }, async () => {
      let text = '';
      const socket = connect(Number(port), hostname);
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.write(request);
      await new Promise((closed) => socket.once('close', closed));
      return text;
    });
    // Each has asked the kernel by then, and the server has not looked.
    await new Promise(process.nextTick);
    await service.store.close();
    for (const text of await Promise.all(received)) {
      expect(text).toMatch(/^HTTP\/1.1 200 [^]*connection: close/i);
    }
  });

  it('takes no new connection', async () => {
    await using service = await startService();
    const { socket } = await open(service, 'GET /health/live HTTP/1.1\r\n');
    const closing = service.store.close();
    const isRefused = () =>
      service
        .anonymous()
        .get('/health/live')
        .then(() => false)
        .catch(({ message }: Error) => message.includes('ECONNREFUSED'));
    await eventually(isRefused);
    socket.destroy();
    await closing;
  });

  it('closes idle connections, and cuts half-open ones when its time is over', async () => {
    await using service = await startService({ env: { SHUTDOWN_GRACE_SECONDS: '1' } });
    const idle = await open(service, 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    const half = await open(service, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n');
    await allIsRead(service);
    const closed = Promise.all([once(idle.socket, 'close'), once(half.socket, 'close')]);
    await service.store.close();
    await closed;
    expect(idle.received()).toMatch(/^HTTP\/1.1 200 /);
    expect(half.received()).toBe('');
  });

  it('leaves time for what is to be saved, however long a client holds on', async () => {
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

  it('is over before the grace period is, though something takes no leave', async () => {
    let letGo: () => void = () => undefined;
    @Module({})
    class StuckModule implements OnModuleDestroy {
      onModuleDestroy(): Promise<void> {
        return new Promise((resolve) => (letGo = resolve));
      }
    }
    await using service = await startService({
      extensions: [{ module: StuckModule }],
      env: { SHUTDOWN_GRACE_SECONDS: '1' },
    });
    // The process has to end as well.
    const graceIsAlmostOver = pause(900, 'too late', { ref: false });
    expect(await Promise.race([service.store.close(), graceIsAlmostOver])).toBeUndefined();
    letGo();
    await service.store.app.close();
  });
});
