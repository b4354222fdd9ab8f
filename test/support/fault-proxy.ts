import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that can delay, stall, lose or reset connections. */
export class FaultProxy implements AsyncDisposable {
  private readonly lines = new Set<readonly [Socket, Socket]>();
  private readonly lost = new WeakSet<Socket>();
  private refusing = false;
  private stalled = false;
  private delayMs = 0;

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

  /** Ends all faults. Stalled connections continue, lost ones do not. */
  pass(): void {
    this.refusing = false;
    this.stalled = false;
    this.delayMs = 0;
    for (const line of this.lines) line.forEach((end) => !this.lost.has(end) && end.resume());
  }

  /** Forwards everything so much later, in its order. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  /** Forwards nothing and closes nothing. */
  stall(): void {
    this.stalled = true;
    for (const line of this.lines) line.forEach((end) => end.pause());
  }

  /**
   * Like `stall`, but existing connections stay dead, as after a power failure of the other
   * machine.
   */
  lose(): void {
    this.stall();
    for (const line of this.lines) line.forEach((end) => this.lost.add(end));
  }

  /** Resets every connection; accepts new ones. */
  cut(): void {
    for (const line of this.lines) line.forEach((end) => end.resetAndDestroy());
  }

  /** Resets every connection, including new ones. */
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
    if (this.refusing) {
      client.resetAndDestroy();
      return;
    }
    const target = connect(this.targetPort, '127.0.0.1');
    const line = [client, target] as const;
    this.lines.add(line);
    for (const [from, to] of [line, [target, client]] as const) {
      let sent: Promise<unknown> | undefined;
      from.on('data', (bytes: Buffer) => {
        if (this.delayMs === 0 && sent === undefined) {
          to.write(bytes);
          return;
        }
        const due = new Promise((resolve) => setTimeout(resolve, this.delayMs));
        const mine = Promise.all([sent, due]).then(() => {
          to.write(bytes);
          if (sent === mine) sent = undefined;
        });
        sent = mine;
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.lines.delete(line);
      });
      if (this.stalled) from.pause();
    }
  }
}
