import { Injectable } from '@nestjs/common';
import { BanRepository } from './bans/ban.repository.js';
import { CounterRepository } from './counter.repository.js';
import { MemoryStore } from './stores/memory.store.js';
import { type Decision, RateLimitStore } from './stores/rate-limit-store.js';

/** Current counts for a process that does not count itself. They may lag by a second. */
@Injectable()
export class CurrentCounts {
  constructor(
    private readonly store: RateLimitStore,
    private readonly memory: MemoryStore,
    private readonly counters: CounterRepository,
    private readonly bans: BanRepository,
  ) {}

  /** @throws {Error} if Redis is unreachable: only the nodes know what was used since */
  async of(subject: string): Promise<Decision> {
    const [count, ban] = await Promise.all([this.counters.find(subject), this.bans.find(subject)]);
    if (count !== null) this.memory.restore(count);
    if (ban !== null) this.memory.restoreBan(subject, ban);
    const counts = await this.store.peek(subject);
    if (this.store.mode === 'fallback') {
      throw new Error('Redis is unreachable, so the current counts are unknown');
    }
    return counts;
  }
}
