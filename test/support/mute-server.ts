import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Accepts every connection and responds to the first bytes with `farewell`, or never. */
export class MuteServer implements AsyncDisposable {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.sockets.delete(socket));
    socket.once('data', () => this.farewell && socket.end(this.farewell));
  });

  private constructor(private readonly farewell: Buffer | undefined) {}

  static async start(farewell?: Buffer): Promise<MuteServer> {
    const mute = new MuteServer(farewell);
    mute.server.listen(0, '127.0.0.1');
    await once(mute.server, 'listening');
    return mute;
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
