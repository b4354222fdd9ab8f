import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { QueryFailedError } from 'typeorm';

const TOO_MANY_CONNECTIONS = '53300';
const RETRY_MS = 100;
/** How long a request waits for a connection that the server refuses to open. */
const PATIENCE_MS = 3_000;
/** Time after which the pool tries to open as many connections as are configured again. */
const SHRUNK_MS = 30_000;

type Connected = Parameters<Pool['connect']>[0];

/**
 * A pool that waits for one of its connections if PostgreSQL refuses another one: the role, or the
 * whole server, may allow fewer connections than are configured.
 */
export class PatientPool extends Pool {
  private isShrunk = false;

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    const client = this.connectPatiently();
    if (callback === undefined) return client;
    client.then(
      (connected) => callback(undefined, connected, connected.release.bind(connected)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }

  /** @throws {QueryFailedError} */
  private async connectPatiently(): Promise<PoolClient> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await super.connect();
      } catch (error) {
        const isRefused = (error as { code?: unknown }).code === TOO_MANY_CONNECTIONS;
        if (!isRefused || performance.now() >= deadline) {
          throw new QueryFailedError('', [], error as Error);
        }
      }
      this.shrink();
      if (this.totalCount === 0) await pause(RETRY_MS);
    }
  }

  private shrink(): void {
    const { max } = this.options;
    this.options.max = Math.max(1, this.totalCount);
    if (this.isShrunk) return;
    this.isShrunk = true;
    new Logger('PostgreSQL').warn(
      'PostgreSQL refused a connection; requests will wait for a free one',
    );
    setTimeout(() => {
      this.options.max = max;
      this.isShrunk = false;
    }, SHRUNK_MS).unref();
  }
}
