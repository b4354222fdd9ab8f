import type { AddressInfo } from 'node:net';
import type { NestApplicationContext } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from './core/config/config.js';
import { Readiness } from './core/health/readiness.js';
import { Transport } from './core/http/transport.js';
import { Logger } from './core/telemetry/logger.js';
import { waitAtMost } from './core/time/timeout.js';

/** Reserved for the last log lines and the exit of the process itself. */
const EXIT_MS = 400;
/** Share of the grace period that is left for saving the counters and closing the database. */
const CLOSING_SHARE = 0.15;

/** A running service. */
export class PetStore {
  private closing: Promise<void> | undefined;

  /**
   * @param apps the application of the service and, with ADMIN_PORT, of the admin API
   * @param cleanUp runs once the applications are closed
   */
  constructor(
    private readonly apps: readonly NestFastifyApplication[],
    private readonly cleanUp: () => Promise<void>,
  ) {}

  get app(): NestFastifyApplication {
    return this.apps[0]!;
  }

  /** The address on which the server listens: `http://HOST:PORT`. */
  get origin(): string {
    const { address, port, family } = this.app.getHttpServer().address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /**
   * Drains, saves the counters, and ends within the grace period.
   * @param signal passed to shutdown hooks
   */
  close(signal?: string): Promise<void> {
    this.closing ??= this.drainAndClose(signal);
    return this.closing;
  }

  private async drainAndClose(signal?: string): Promise<void> {
    const { app } = this;
    // `close()` of a context takes a signal.
    const apps = this.apps as readonly (NestFastifyApplication & NestApplicationContext)[];
    const logger = app.get(Logger);
    logger.info({}, 'Draining: completing requests in progress, closing connections');
    app.get(Readiness).isDraining = true;
    const graceMs = app.get(Config).shutdownGraceSeconds * 1_000 - EXIT_MS;
    const deadline = performance.now() + graceMs;
    const drained = deadline - graceMs * CLOSING_SHARE;
    await Promise.all(apps.map((each) => each.get(Transport).connections.drain(drained)));
    // An unreachable database cannot hold up the exit.
    const closed = Promise.all(apps.map((each) => each.close(signal)));
    await waitAtMost(deadline - performance.now(), closed);
    await this.cleanUp();
    logger.info({}, 'Stopped');
    logger.flush();
  }
}
