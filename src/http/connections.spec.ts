import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { eventually } from '../../test/support/eventually.js';
import { followConnections, isSending } from './connections.js';

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
