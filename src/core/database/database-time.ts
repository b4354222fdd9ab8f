import type { DataSource } from 'typeorm';

/** SQL of the database's clock, which all nodes share: Unix milliseconds. */
export const NOW = {
  sqlite: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  postgres: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
};

export function databaseNow({ options }: DataSource): string {
  return options.type === 'postgres' ? NOW.postgres : NOW.sqlite;
}
