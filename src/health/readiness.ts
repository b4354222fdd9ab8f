import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { within } from '../time/within.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';

const CHECK_TIMEOUT_MS = 1_000;

/** False, or a throw: this node should not be sent requests. */
export type ReadinessCheck = () => boolean | void | Promise<boolean | void>;

export interface ReadinessReport {
  status: 'ok' | 'degraded' | 'unavailable';
  checks: {
    database: 'ok' | 'unavailable';
    counters: 'memory' | 'redis' | 'fallback';
    /** Those of extensions. */
    [name: string]: string;
  };
}

/** Whether this node should be sent requests. */
@Injectable()
export class Readiness {
  isDraining = false;
  private readonly further = new Map<string, ReadinessCheck>();

  constructor(
    private readonly engine: Engine,
    private readonly counters: RateLimitStore,
  ) {}

  /** Makes something else that this node cannot do without a part of the report. */
  register(name: string, check: ReadinessCheck): void {
    if (this.further.has(name) || ['database', 'counters'].includes(name)) {
      throw new Error(`There is a readiness check named ${name} already`);
    }
    this.further.set(name, check);
  }

  /** From now on other nodes are to be asked. */
  drain(): void {
    this.isDraining = true;
  }

  async check(): Promise<ReadinessReport> {
    const [database, ...others] = await Promise.all([
      outcomeOf(() => this.engine.ping().then(() => true)),
      ...Array.from(this.further.values(), outcomeOf),
    ]);
    const further = Object.fromEntries(
      Array.from(this.further.keys(), (name, index) => [name, others[index]!]),
    );
    const counters = this.counters.mode;
    const counting = counters === 'fallback' ? 'degraded' : 'ok';
    const isReady = !this.isDraining && [database, ...others].every((outcome) => outcome === 'ok');
    const status = isReady ? counting : 'unavailable';
    return { status, checks: { database, counters, ...further } };
  }
}

async function outcomeOf(check: ReadinessCheck): Promise<'ok' | 'unavailable'> {
  try {
    const isFine = await within(CHECK_TIMEOUT_MS, Promise.resolve(check()));
    return isFine === false ? 'unavailable' : 'ok';
  } catch {
    return 'unavailable';
  }
}
