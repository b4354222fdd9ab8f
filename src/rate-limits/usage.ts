import { Injectable } from '@nestjs/common';
import { BanLedger } from './ban-ledger.js';
import { CounterLedger } from './counter-ledger.js';
import { MemoryStore } from './memory.store.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';

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
    return this.store.peek(subject);
  }
}
