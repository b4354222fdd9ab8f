import type { DataSource } from 'typeorm';
import { ownerOf } from './extension-migrations.js';

/** A name of our own, because other applications in the same database often have a table `migrations`. */
export const MIGRATIONS_TABLE = 'petstore_migrations';

/** How the schema of a database differs from the one that this program needs. */
export interface SchemaState {
  /** Migrations that have not run. */
  behind: string[];
  /** Migrations of a later version of this program. */
  ahead: string[];
  /** Migrations of extensions that are not configured. */
  foreign: string[];
}

export function schemaState(ran: readonly string[], known: readonly string[]): SchemaState {
  const unknown = ran.filter((name) => !known.includes(name));
  return {
    behind: known.filter((name) => !ran.includes(name)),
    ahead: unknown.filter((name) => ownerOf(name).owner === undefined),
    foreign: unknown.filter((name) => ownerOf(name).owner !== undefined),
  };
}

/** The names of the migrations that ran. TypeORM's own methods would create the table, which takes a privilege. */
export async function migrationsThatRan(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    if (!(await runner.hasTable(MIGRATIONS_TABLE))) return [];
    const text = `SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`;
    const rows = (await runner.query(text)) as { name: string }[];
    return rows.map(({ name }) => name);
  } finally {
    await runner.release();
  }
}
