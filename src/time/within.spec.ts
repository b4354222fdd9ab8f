import { createServer, type AddressInfo, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { NoAnswer, within } from './within.js';

describe(within.name, () => {
  it('gives the answer, or its failure', async () => {
    expect(await within(1_000, Promise.resolve(7))).toBe(7);
    await expect(within(1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('waits no longer than it was told to', async () => {
    await expect(within(1, new Promise(() => undefined))).rejects.toThrow(NoAnswer);
  });

  it('takes an answer that came in while the process stood still', async () => {
    await using server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [[other]] = await Promise.all([accepted, once(socket, 'connect')]);
    other.end('late');
    const answer = once(socket, 'data') as Promise<[Buffer]>;
    const asked = within(50, answer);
    // The bytes wait in the kernel, and so does the timer.
    const until = performance.now() + 200;
    while (performance.now() < until);
    expect(String((await asked)[0])).toBe('late');
    socket.destroy();
  });
});
