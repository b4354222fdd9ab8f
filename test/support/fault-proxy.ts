import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and a server on this machine, and breaks the line as it is told. */
export class FaultProxy implements AsyncDisposable {
  /** So many were begun. */
  connections = 0;
  private readonly lines = new Set<readonly [Socket, Socket]>();
  private readonly lost = new WeakSet<Socket>();
  private refusing = false;
  private stalled = false;

  private constructor(
    private readonly server: Server,
    private readonly targetPort: number,
  ) {
    server.on('connection', (client) => this.accept(client));
  }

  static async start(targetPort: number): Promise<FaultProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultProxy(server, targetPort);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Everything works for new connections; those that were stalled go on, those that were lost do not. */
  pass(): void {
    this.refusing = false;
    this.stalled = false;
    for (const line of this.lines) line.forEach((end) => !this.lost.has(end) && end.resume());
  }

  /** Nothing gets through, and nobody is told. */
  stall(): void {
    this.stalled = true;
    for (const line of this.lines) line.forEach((end) => end.pause());
  }

  /** Like `stall`, but connections made before stay dead: as when the other machine lost power. */
  lose(): void {
    this.stall();
    for (const line of this.lines) line.forEach((end) => this.lost.add(end));
  }

  /** Resets every connection; new ones are taken. */
  cut(): void {
    for (const line of this.lines) line.forEach((end) => end.resetAndDestroy());
  }

  /** Resets every connection, and each new one at once. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    this.refuse();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(client: Socket): void {
    this.connections++;
    if (this.refusing) {
      client.resetAndDestroy();
      return;
    }
    const target = connect(this.targetPort, '127.0.0.1');
    const line = [client, target] as const;
    this.lines.add(line);
    for (const [from, to] of [line, [target, client]] as const) {
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.lines.delete(line);
      });
      if (this.stalled) from.pause();
    }
  }
}
