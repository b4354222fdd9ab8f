import { Injectable } from '@nestjs/common';
import { Database, sameStatement } from '../database/database.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';

const EXPIRING_DAYS = 14;
/** With `replaced_by IS NULL`, SQLite would read the index of successors: almost every key. */
const KEYS = sameStatement(
  'keys.expiring',
  `SELECT CAST(COUNT(*) AS double precision) AS "keys" FROM api_keys
  WHERE expires_at > $1 AND expires_at < $2
    AND revoked_at IS NULL AND disabled_at IS NULL AND COALESCE(replaced_by, '') = ''`,
);
const TOKENS = sameStatement(
  'admin_tokens.expiring',
  `SELECT CAST(COUNT(*) AS double precision) AS "keys" FROM admin_tokens
  WHERE expires_at > $1 AND expires_at < $2 AND revoked_at IS NULL`,
);

/** Counts, at each scrape, active keys without a successor and admin tokens that expire soon. */
@Injectable()
export class KeyMetrics {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    this.addGauge('keys_expiring', 'Active keys without a successor', KEYS);
    this.addGauge('admin_tokens_expiring', 'Admin tokens', TOKENS);
  }

  /** @returns the number of active keys without a successor that expire within 14 days */
  async countExpiring(statement = KEYS): Promise<number> {
    const nowMs = this.clock.now();
    const until = nowMs + EXPIRING_DAYS * DAY_MS;
    const [row] = await this.database.poll<{ keys: number }>(statement, nowMs, until);
    return row!.keys;
  }

  private addGauge(name: string, what: string, statement: typeof KEYS): void {
    const gauge = this.metrics.gauge({
      name,
      help: `${what} that expire within this number of days.`,
      labelNames: ['days'],
      collect: async () => {
        // During an outage, the other metrics must still be served.
        const count = await this.countExpiring(statement).catch(() => undefined);
        if (count !== undefined) gauge.set({ days: EXPIRING_DAYS }, count);
      },
    });
  }
}
