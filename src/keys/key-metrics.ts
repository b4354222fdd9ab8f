import { Injectable } from '@nestjs/common';
import { Database, sameStatement } from '../database/database.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';

const DAYS = 14;
const COUNT = sameStatement(
  'keys.expiring',
  `SELECT CAST(COUNT(*) AS double precision) AS "keys" FROM api_keys
  WHERE expires_at > $1 AND expires_at < $2
    AND revoked_at IS NULL AND disabled_at IS NULL AND replaced_by IS NULL`,
);

/** Counts, at each scrape, the active keys without a successor that expire soon. */
@Injectable()
export class KeyMetrics {
  constructor(database: Database, clock: Clock, metrics: Metrics) {
    const gauge = metrics.gauge({
      name: 'keys_expiring',
      help: 'Active keys without a successor that expire within this number of days.',
      labelNames: ['days'],
      collect: async () => {
        const nowMs = clock.now();
        const count = database.observe<{ keys: number }>(COUNT, nowMs, nowMs + DAYS * DAY_MS);
        // During an outage, the other metrics must still be served.
        const [row] = await count.catch(() => []);
        if (row) gauge.set({ days: DAYS }, row.keys);
      },
    });
  }
}
