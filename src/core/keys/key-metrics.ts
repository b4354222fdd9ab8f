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
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    const gauge = metrics.gauge({
      name: 'keys_expiring',
      help: 'Active keys without a successor that expire within this number of days.',
      labelNames: ['days'],
      collect: async () => {
        // During an outage, the other metrics must still be served.
        const keys = await this.countExpiring().catch(() => undefined);
        if (keys !== undefined) gauge.set({ days: DAYS }, keys);
      },
    });
  }

  /** @returns the number of active keys without a successor that expire within 14 days */
  async countExpiring(): Promise<number> {
    const nowMs = this.clock.now();
    const until = nowMs + DAYS * DAY_MS;
    const [row] = await this.database.observe<{ keys: number }>(COUNT, nowMs, until);
    return row!.keys;
  }
}
