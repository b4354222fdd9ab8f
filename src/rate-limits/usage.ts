import { Injectable } from '@nestjs/common';
import { BanLedger } from './bans/ban-ledger.js';
import { CounterLedger } from './counter-ledger.js';
import { MemoryStore } from './stores/memory.store.js';
import { type Decision, RateLimitStore } from './stores/rate-limit-store.js';

/** What was used is known to Redis alone, or to nodes that count by themselves meanwhile. */
export class UsageUnknownError extends Error {
  constructor() {
    super('Redis does not answer: what was used cannot be known');
  }
}

/** What a subject has used, told by a process that does not count it: at most a second old. */
@Injectable()
export class Usage {
  constructor(
    private readonly store: RateLimitStore,
    private readonly memory: MemoryStore,
    private readonly counters: CounterLedger,
    private readonly bans: BanLedger,
  ) {}

  async of(subject: string): Promise<Decision> {
    const [count, ban] = await Promise.all([this.counters.find(subject), this.bans.find(subject)]);
    if (count !== undefined) this.memory.restore(count);
    if (ban !== undefined) this.memory.restoreBan(subject, ban);
    const usage = await this.store.peek(subject);
    if (this.store.mode === 'fallback') throw new UsageUnknownError();
    return usage;
  }
}
