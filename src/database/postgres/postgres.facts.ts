import { Client } from 'pg';
import type { DatabaseFacts } from '../database-facts.js';

const PATIENCE_MS = 3_000;

/** Rejects where it cannot be reached. */
export async function postgresFacts(url: string, table: string): Promise<DatabaseFacts> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    application_name: 'petstore doctor',
  });
  // Whoever waits for an answer hears of it; without a listener the process would end.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows: settings } = await client.query<{ version: string; there: boolean }>(
      `SELECT current_setting('server_version') AS version, to_regclass($1) IS NOT NULL AS there`,
      [table],
    );
    const { version, there } = settings[0]!;
    const begun = Date.now();
    const { rows: clock } = await client.query<{ ms: string }>(
      'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms',
    );
    const clockAheadMs = Number(clock[0]!.ms) - (begun + Date.now()) / 2;
    const { rows } = there
      ? await client.query<{ name: string }>(`SELECT name FROM ${table} ORDER BY id`)
      : { rows: undefined };
    const migrations = rows?.map(({ name }) => name);
    return {
      engine: 'PostgreSQL',
      version,
      damage: undefined,
      migrations,
      clockAheadMs,
      latestMs: undefined,
    };
  } finally {
    client.end().catch(() => undefined);
  }
}
