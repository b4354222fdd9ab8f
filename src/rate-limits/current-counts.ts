import { Injectable } from '@nestjs/common';
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
  ) {}

  /** @throws {Error} if Redis is unreachable: only the nodes know what was used since */
  async of(subject: string): Promise<Decision> {
    const count = await this.counters.find(subject);
    if (count !== null) this.memory.restore(count);
    const counts = await this.store.peek(subject);
    if (this.store.mode === 'fallback') {
      throw new Error('Redis is unreachable, so the current counts are unknown');
    }
    return counts;
  }
}
