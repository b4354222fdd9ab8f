import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

type Answer = (chunk: string, socket: Socket) => string;

/** A TCP server that responds to each chunk with `answer`, or never. */
export class FakeServer implements AsyncDisposable {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => socket.write(this.answer(chunk.toString(), socket)));
  });

  private constructor(private readonly answer: Answer) {}

  static async start(answer: Answer = () => ''): Promise<FakeServer> {
    const fake = new FakeServer(answer);
    fake.server.listen(0, '127.0.0.1');
    await once(fake.server, 'listening');
    return fake;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resolves once a client has connected. */
  async visited(): Promise<void> {
    if (this.sockets.size === 0) await once(this.server, 'connection');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
