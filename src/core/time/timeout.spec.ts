import { createServer, type AddressInfo, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { TimeoutError, withTimeout } from './timeout.js';

describe(withTimeout.name, () => {
  it('returns the response, or throws its error', async () => {
    expect(await withTimeout(1_000, Promise.resolve(7))).toBe(7);
    await expect(withTimeout(1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('rejects when no response arrives in time', async () => {
    await expect(withTimeout(1, new Promise(() => undefined))).rejects.toThrow(TimeoutError);
  });

  it('accepts a response that arrives soon after the process was suspended', async () => {
    await using server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [[other]] = await Promise.all([accepted, once(socket, 'connect')]);
    const response = once(socket, 'data') as Promise<[Buffer]>;
    const asked = withTimeout(200, response);
    // Blocks the event loop for longer than the timeout, as a suspension does.
    const until = performance.now() + 300;
    while (performance.now() < until);
    setTimeout(() => other.end('late'), 20);
    expect(String((await asked)[0])).toBe('late');
    socket.destroy();
    // The server's side may not notice otherwise, and the server would never close.
    other.destroy();
  });
});
