/** What a look from outside tells of a database; it is neither made nor changed. */
export interface DatabaseFacts {
  engine: 'SQLite' | 'PostgreSQL';
  version: string;
  /** What is broken in its file; undefined where nothing is, or where a server of its own looks after that. */
  damage: string | undefined;
  /** Names of the migrations that ran; undefined where it is not a database of this service, or an empty one. */
  migrations: string[] | undefined;
  /** By how much its clock is ahead of ours; undefined where it has none of its own. */
  clockAheadMs: number | undefined;
  /** The latest moment that it knows of: Unix milliseconds; undefined where it has a clock of its own. */
  latestMs: number | undefined;
}
