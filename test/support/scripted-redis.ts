import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** https://redis.io/docs/latest/develop/reference/protocol-spec/ */
const COMMAND = /\*\d+\r\n\$\d+\r\n(\w+)\r\n/g;

/** Speaks the protocol of Redis and answers commands as the test defines. */
export class ScriptedRedis implements AsyncDisposable {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const [, name] of chunk.toString().matchAll(COMMAND)) {
        socket.write(`${this.answer(name!.toUpperCase())}\r\n`);
      }
    });
  });

  private constructor(private readonly answer: (command: string) => string) {}

  static async start(answer: (command: string) => string): Promise<ScriptedRedis> {
    const redis = new ScriptedRedis(answer);
    redis.server.listen(0, '127.0.0.1');
    await once(redis.server, 'listening');
    return redis;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
