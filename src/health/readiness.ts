import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { withTimeout } from '../time/timeout.js';
import { DatabaseFaults } from './database-faults.js';

const CHECK_TIMEOUT_MS = 1_000;

/**
 * If it returns false, throws or takes more than a second, this node should receive no requests.
 */
export type ReadinessCheck = () => boolean | void | Promise<boolean | void>;

export interface ReadinessReport {
  status: 'ok' | 'degraded' | 'unavailable';
  /** `database`, `counters` and the checks of extensions. */
  checks: Record<string, string>;
}

/** Decides whether this node should receive requests. */
@Injectable()
export class Readiness {
  /** While the server drains, the report is `unavailable`. */
  isDraining = false;
  private readonly checks = new Map<string, ReadinessCheck>();

  constructor(
    database: Database,
    private readonly faults: DatabaseFaults,
    private readonly counters: RateLimitStore,
  ) {
    this.register('database', () => database.ping());
  }

  /** Adds a check of an extension to the report. */
  register(name: string, check: ReadinessCheck): void {
    if (this.checks.has(name) || name === 'counters') {
      throw new Error(`There is already a readiness check named ${name}`);
    }
    this.checks.set(name, check);
  }

  async check(): Promise<ReadinessReport> {
    const entries = Array.from(this.checks, async ([name, check]) => [name, await run(check)]);
    const checks = Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
    const counters = this.counters.mode;
    const fault = this.faults.current;
    const isBroken = Object.values(checks).includes('unavailable') || fault === 'damaged';
    const isDegraded = counters === 'fallback' || fault === 'disk full';
    const status = this.isDraining || isBroken ? 'unavailable' : isDegraded ? 'degraded' : 'ok';
    if (checks.database === 'ok') checks.database = fault ?? 'ok';
    return { status, checks: { ...checks, counters } };
  }
}

async function run(check: ReadinessCheck): Promise<'ok' | 'unavailable'> {
  try {
    const result = await withTimeout(CHECK_TIMEOUT_MS, Promise.resolve(check()));
    return result === false ? 'unavailable' : 'ok';
  } catch {
    return 'unavailable';
  }
}
