import type { Socket } from 'node:net';
import { isOutage } from './outage.js';
import type { Pool, PoolClient, QueryArrayConfig, QueryConfig } from 'pg';

/** So many wait behind one that is slow, at most. */
const MAX_SHARING = 16;
/** Whoever waits for a connection of the pool gets one by then, however many reads keep coming. */
const MAX_BORROWED_MS = 100;

type Config = QueryConfig | QueryArrayConfig;

interface Read {
  config: Config;
  resolve: (rows: never[]) => void;
  reject: (error: Error) => void;
}

/**
 * Reads of PostgreSQL, which share connections of the pool: to write to a connection and to hear from it
 * costs more than to read a row. The reads of one turn of the event loop leave in one packet, and their
 * answers come back in one (pipelining). Each read stands for itself: one that fails fails alone.
 */
export class PostgresReader {
  private shared: SharedConnection[] = [];

  constructor(private readonly pool: () => Pool) {}

  /** Resolves to the rows. @throws what the driver throws */
  read<Row>(config: Config): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.connection().add({ config, resolve: resolve, reject });
    });
  }

  private connection(): SharedConnection {
    for (const connection of this.shared) if (connection.hasRoom) return connection;
    const connection = new SharedConnection(this.pool(), () => {
      this.shared = this.shared.filter((other) => other !== connection);
    });
    this.shared.push(connection);
    return connection;
  }
}

/** A connection from when it is asked for until none of its reads is under way. */
class SharedConnection {
  private readonly borrowedUntilMs = performance.now() + MAX_BORROWED_MS;
  private client: PoolClient | undefined;
  private waiting: Read[] = [];
  private underWay = 0;
  private broken: Error | undefined;

  constructor(
    pool: Pool,
    private readonly returned: () => void,
  ) {
    pool.connect().then(
      (client) => {
        this.client = client;
        setImmediate(() => this.send());
      },
      (error: Error) => {
        this.returned();
        for (const { reject } of this.waiting) reject(error);
      },
    );
  }

  get hasRoom(): boolean {
    return (
      this.waiting.length + this.underWay < MAX_SHARING &&
      this.broken === undefined &&
      performance.now() < this.borrowedUntilMs
    );
  }

  add(read: Read): void {
    this.waiting.push(read);
    if (this.waiting.length === 1 && this.client !== undefined) setImmediate(() => this.send());
  }

  private send(): void {
    const client = this.client!;
    const reads = this.waiting;
    this.waiting = [];
    this.underWay += reads.length;
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    stream.cork();
    for (const read of reads) this.start(client, read);
    stream.uncork();
  }

  private start(client: PoolClient, { config, resolve, reject }: Read): void {
    client.query(config, (error: Error | undefined, result) => {
      if (error) this.fail(error, reject);
      else resolve(result.rows as never[]);
      if (--this.underWay === 0 && this.waiting.length === 0) this.giveBack();
    });
  }

  private fail(error: Error, reject: Read['reject']): void {
    if (isOutage(error)) this.broken = error;
    reject(error);
  }

  private giveBack(): void {
    this.returned();
    this.client!.release(this.broken);
  }
}
