import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { RateLimitStore, STORE_MODES } from '../rate-limits/stores/rate-limit-store.js';
import { withTimeout } from '../time/timeout.js';
import { DatabaseFaults } from '../database/database-faults.js';

const CHECK_TIMEOUT_MS = 1_000;
/** Check results that take the node out of rotation. */
const UNAVAILABLE = ['unavailable', 'damaged'];

/**
 * If it returns false, throws or takes more than a second, this node should receive no requests.
 */
export type ReadinessCheck = () => boolean | void | Promise<boolean | void>;

/** Decides whether this node should receive requests. */
@Injectable()
export class Readiness {
  /** While the server drains, the report is `unavailable`. */
  isDraining = false;
  private readonly checks = new Map<string, ReadinessCheck>();
  private running: Promise<Record<string, string>> | undefined;

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
      throw new Error(`There is already a readiness check called ${name}`);
    }
    this.checks.set(name, check);
  }

  /** `checks` has `database`, `counters` and the checks of extensions. */
  async check() {
    // Anybody may ask, as often as they like: those who ask at the same time share the result.
    this.running ??= this.runChecks().finally(() => (this.running = undefined));
    const checks = { ...(await this.running) };
    const counters = STORE_MODES[this.counters.mode];
    const fault = this.faults.current;
    if (checks.database === 'ok' && fault !== undefined) checks.database = fault;
    const isUnavailable = Object.values(checks).some((each) => UNAVAILABLE.includes(each));
    const isDegraded = counters === 'fallback' || fault !== undefined;
    let status = isDegraded ? 'degraded' : 'ok';
    if (this.isDraining || isUnavailable) status = 'unavailable';
    return { status, checks: { ...checks, counters } };
  }

  private async runChecks(): Promise<Record<string, string>> {
    const entries = Array.from(this.checks, async ([name, check]) => [name, await run(check)]);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
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
