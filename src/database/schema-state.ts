import type { DataSource } from 'typeorm';
import { ownerOf } from './extension-migrations.js';
import { isMissing } from './outage.js';

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

/**
 * The names of the migrations that ran. TypeORM's own methods would create the table, which takes a privilege.
 * @throws {Error} if the role may not read the table
 */
export async function migrationsThatRan(dataSource: DataSource): Promise<string[]> {
  try {
    const text = `SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`;
    return (await dataSource.query<{ name: string }[]>(text)).map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
