import type { Socket } from 'node:net';
import type { Pool, PoolClient, QueryArrayConfig, QueryConfig } from 'pg';
import { batchPerTick } from '../../time/batch-per-tick.js';
import { isOutage, isStale, noteOfOurs } from '../outage.js';

/** So many wait behind one that is slow, at most. */
const MAX_SHARING = 16;
/** Whoever waits for a connection of the pool gets one by then, however many reads keep coming. */
const MAX_BORROWED_MS = 100;
/** The server gives up a statement before that: who has not answered by then is gone. */
const ANSWER_TIMEOUT_MS = MAX_BORROWED_MS + 3_500;

/** What the driver keeps to itself. */
interface ClientInternals {
  connection: { stream: Socket };
  connectionParameters: { query_timeout: number | undefined };
}

type Config = QueryConfig | QueryArrayConfig;

interface Read {
  config: Config;
  toValue: ((row: unknown) => unknown) | undefined;
  resolve: (values: unknown[]) => void;
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

  /** Resolves to what `toValue` makes of each row, or to the rows. @throws what the driver throws */
  read(config: Config, toValue?: (row: unknown) => unknown): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.connection().add({ config, toValue, resolve, reject });
    });
  }

  private connection(): SharedConnection {
    for (const connection of this.shared) if (connection.hasRoom) return connection;
    const connection = new SharedConnection(
      this.pool(),
      (read) => this.connection().add(read),
      () => (this.shared = this.shared.filter((other) => other !== connection)),
    );
    this.shared.push(connection);
    return connection;
  }
}

/** A connection from when it is asked for until none of its reads is under way. */
class SharedConnection {
  private readonly borrowedUntilMs = performance.now() + MAX_BORROWED_MS;
  private readonly turn = batchPerTick<Read>((reads) => this.send(reads));
  private client: (PoolClient & ClientInternals) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private timeoutMs: number | undefined;
  /** Those that came before the connection. */
  private early: Read[] = [];
  private unanswered = 0;
  private broken: Error | undefined;

  constructor(
    pool: Pool,
    private readonly again: (read: Read) => void,
    private readonly returned: () => void,
  ) {
    pool.connect().then(
      (client) => this.take(client as PoolClient & ClientInternals),
      (error: Error) => {
        this.returned();
        for (const { reject } of this.early) reject(error);
      },
    );
  }

  get hasRoom(): boolean {
    return (
      this.unanswered < MAX_SHARING &&
      this.broken === undefined &&
      performance.now() < this.borrowedUntilMs
    );
  }

  add(read: Read): void {
    this.unanswered++;
    if (this.client === undefined) this.early.push(read);
    else this.turn(read);
  }

  /**
   * One timer watches over all of its reads. The driver's own, one each, would have every answer outlive
   * its request by some seconds, as far as the collector of garbage can tell.
   */
  private take(client: PoolClient & ClientInternals): void {
    this.client = client;
    this.timeoutMs = client.connectionParameters.query_timeout;
    client.connectionParameters.query_timeout = 0;
    this.timer = setTimeout(() => client.connection.stream.destroy(), ANSWER_TIMEOUT_MS);
    for (const read of this.early) this.turn(read);
    this.early = [];
  }

  private send(reads: readonly Read[]): void {
    const { stream } = this.client!.connection;
    stream.cork();
    for (const read of reads) this.start(read);
    stream.uncork();
  }

  private start(read: Read): void {
    const { config, toValue, resolve } = read;
    this.client!.query(config, (error: Error | undefined, result) => {
      if (error) this.fail(error, read);
      else resolve(toValue === undefined ? result.rows : result.rows.map(toValue));
      if (--this.unanswered === 0) this.giveBack();
    });
  }

  /** The connection has no further use once its state, or what is prepared on it, is in doubt. */
  private fail(error: Error, read: Read): void {
    noteOfOurs(error);
    const { broken } = this;
    if (isStale(error) && read.config.name !== undefined) {
      this.broken ??= error;
      // Behind a statement that was given up: to wait as long once more would help nobody.
      if (isOutage(broken)) read.reject(broken!);
      else this.again({ ...read, config: { ...read.config, name: undefined } });
      return;
    }
    if (isOutage(error)) this.broken = error;
    read.reject(error);
  }

  private giveBack(): void {
    const client = this.client!;
    this.returned();
    clearTimeout(this.timer);
    client.connectionParameters.query_timeout = this.timeoutMs;
    client.release(this.broken);
  }
}
