import { ownerOf } from './guest-migrations.js';

/** How the schema of a database differs from the one that this program, as it is configured, works with. */
export interface SchemaState {
  /** Migrations that are still to run. */
  behind: string[];
  /** Migrations of a later version of this program. */
  ahead: string[];
  /** Migrations of extensions that this program is not configured with. */
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
