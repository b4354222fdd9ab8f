import type { Histogram } from 'prom-client';
import { RedisClient, type Script } from './redis.client.js';

/** A client whose commands are timed, to the answer or the end of its time. */
export class ObservedRedisClient extends RedisClient {
  constructor(
    private readonly client: RedisClient,
    private readonly durations: Histogram,
  ) {
    super();
  }

  async run(script: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
    const startedAtMs = performance.now();
    try {
      return await this.client.run(script, key, args);
    } finally {
      this.durations.observe((performance.now() - startedAtMs) / 1000);
    }
  }

  disconnect(): void {
    this.client.disconnect();
  }
}
