import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { allAccepted, followConnections, isSending } from './connections.js';

const MORE_THAN_THE_KERNEL_TAKES = Buffer.alloc(32 * 1024 * 1024);

describe(isSending.name, () => {
  it('is true until whoever is slow has all of an answer', async () => {
    const server = createServer((_request, response) => response.end(MORE_THAN_THE_KERNEL_TAKES));
    followConnections(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(isSending(server)).toBe(false);
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    try {
      client.pause();
      client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => Promise.resolve(isSending(server)));
      client.resume();
      await eventually(() => Promise.resolve(!isSending(server)));
      expect(client.destroyed).toBe(false);
    } finally {
      client.destroy();
      server.close();
    }
  });
});

describe(allAccepted.name, () => {
  const WAITING = 50;

  it('resolves once all are accepted who have connected, and not before the server looked', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    let accepted = 0;
    server.on('connection', () => accepted++);
    const { port } = server.address() as AddressInfo;
    const clients = Array.from({ length: WAITING }, () => connect(port, '127.0.0.1'));
    try {
      // Each has asked the kernel by then.
      await new Promise(process.nextTick);
      await allAccepted(server, turn);
      expect(accepted).toBe(WAITING);
    } finally {
      for (const client of clients) client.destroy();
      server.close();
    }
  });

  it('looks again behind each that came', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    let looks = 0;
    const look = (): Promise<void> => {
      if (++looks <= WAITING) server.emit('connection', new Socket());
      return Promise.resolve();
    };
    await allAccepted(server, look);
    server.close();
    expect(looks).toBeGreaterThan(WAITING + 1);
  });

  it('ends where others come without end once the server listens no longer', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    let looks = 0;
    await allAccepted(server, () => {
      server.emit('connection', new Socket());
      if (++looks === WAITING) server.close();
      return turn();
    });
    expect(looks).toBe(WAITING);
  });
});
