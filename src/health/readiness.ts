import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { withTimeout } from '../time/timeout.js';
import { type DatabaseFault, DatabaseFaults } from './database-faults.js';

const CHECK_TIMEOUT_MS = 1_000;

/** If it returns false, throws or takes more than a second, this node should receive no requests. */
export type ReadinessCheck = () => boolean | void | Promise<boolean | void>;

export interface ReadinessReport {
  status: 'ok' | 'degraded' | 'unavailable';
  checks: {
    database: 'ok' | 'unavailable' | DatabaseFault;
    counters: 'memory' | 'redis' | 'fallback';
    /** The checks of extensions. */
    [name: string]: string;
  };
}

/** Decides whether this node should receive requests. */
@Injectable()
export class Readiness {
  /** While the server drains, the report is `unavailable`. */
  isDraining = false;
  private readonly furtherChecks = new Map<string, ReadinessCheck>();

  constructor(
    private readonly database: Database,
    private readonly faults: DatabaseFaults,
    private readonly counters: RateLimitStore,
  ) {}

  /** Adds a check of an extension to the report. */
  register(name: string, check: ReadinessCheck): void {
    if (this.furtherChecks.has(name) || ['database', 'counters'].includes(name)) {
      throw new Error(`There is already a readiness check named ${name}`);
    }
    this.furtherChecks.set(name, check);
  }

  async check(): Promise<ReadinessReport> {
    const checks = [() => this.database.ping(), ...this.furtherChecks.values()];
    const [reached, ...others] = await Promise.all(checks.map(run));
    const names = [...this.furtherChecks.keys()];
    const further = Object.fromEntries(names.map((name, index) => [name, others[index]!]));
    const database = reached === 'ok' ? (this.faults.current ?? 'ok') : 'unavailable';
    const counters = this.counters.mode;
    const isBroken = [reached, ...others].includes('unavailable') || database === 'damaged';
    const isDegraded = counters === 'fallback' || database === 'disk full';
    const status = this.isDraining || isBroken ? 'unavailable' : isDegraded ? 'degraded' : 'ok';
    return { status, checks: { database, counters, ...further } };
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
