import { createServer, type AddressInfo, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { TimeoutError, withTimeout } from './timeout.js';

describe(withTimeout.name, () => {
  it('passes on the answer, or its error', async () => {
    expect(await withTimeout(1_000, Promise.resolve(7))).toBe(7);
    await expect(withTimeout(1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('rejects when there is no answer in time', async () => {
    await expect(withTimeout(1, new Promise(() => undefined))).rejects.toThrow(TimeoutError);
  });

  it('accepts an answer that arrived while the process was suspended', async () => {
    await using server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [[other]] = await Promise.all([accepted, once(socket, 'connect')]);
    other.end('late');
    const answer = once(socket, 'data') as Promise<[Buffer]>;
    const asked = withTimeout(50, answer);
    // Blocks the event loop: both the answer and the timer are due afterwards.
    const until = performance.now() + 200;
    while (performance.now() < until);
    expect(String((await asked)[0])).toBe('late');
    socket.destroy();
    // The server's side may not notice otherwise, and the server would never close.
    other.destroy();
  });
});
