import { FakeClock } from '../../../test/support/clock.js';
import type { Database } from '../database/database.js';
import { Metrics } from '../telemetry/metrics.js';
import { KeyMetrics } from './key-metrics.js';

const DAY_MS = 86_400_000;

describe(KeyMetrics.name, () => {
  const clock = new FakeClock();
  const scrape = (poll: (statement: unknown, ...times: number[]) => Promise<object[]>) => {
    const metrics = new Metrics();
    new KeyMetrics({ poll } as unknown as Database, clock, metrics);
    return metrics.registry.metrics();
  };

  it('counts the keys that expire within 14 days', async () => {
    const now = clock.now();
    const expiring = [now, now + 1, now + 14 * DAY_MS - 1, now + 14 * DAY_MS];
    const text = await scrape((_statement, after, before) => {
      const keys = expiring.filter((at) => at > after && at < before).length;
      return Promise.resolve([{ keys }]);
    });
    expect(text).toContain('keys_expiring{days="14"} 2\n');
    expect(text).toContain('admin_tokens_expiring{days="14"} 2\n');
  });

  it('leaves the other metrics readable while the database is down', async () => {
    const text = await scrape(() => Promise.reject(new Error('away')));
    expect(text).toMatch(/# TYPE \w*keys_expiring gauge/);
    expect(text).not.toContain('keys_expiring{');
  });
});
