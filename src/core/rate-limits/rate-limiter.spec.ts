import { Metrics } from '../telemetry/metrics.js';
import { Plans } from './plan.js';
import { RateLimiter } from './rate-limiter.js';
import type { RateLimitStore } from './stores/rate-limit-store.js';

describe(RateLimiter.name, () => {
  it('exposes the mode of the store, as it is at the scrape', async () => {
    const store: { mode: RateLimitStore['mode'] } = { mode: 'shared' };
    const metrics = new Metrics();
    new RateLimiter(store as RateLimitStore, metrics, new Plans());
    const modes = async () => (await metrics.registry.metrics()).match(/quota_store\{.*/g);
    expect(await modes()).toEqual([
      'quota_store{mode="memory"} 0',
      'quota_store{mode="redis"} 1',
      'quota_store{mode="fallback"} 0',
    ]);
    store.mode = 'fallback';
    expect(await modes()).toContain('quota_store{mode="fallback"} 1');
  });
});
