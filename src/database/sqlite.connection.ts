import type { Database, Statement } from 'better-sqlite3';

const MEMORY_MAP_BYTES = 268_435_456;
const SYNCHRONOUS_FULL = 2;

/**
 * Makes a fresh connection durable, exact and quick.
 * - An acknowledged write must survive a power cut: WAL with `synchronous=FULL` syncs every commit.
 * - An INTEGER beyond 2^53 must not be rounded: it is read as a BigInt, any other as a Number, which is
 *   what TypeORM expects of generated ids and of its own tables.
 */
export function prepareConnection(database: Database): void {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma(`mmap_size = ${MEMORY_MAP_BYTES}`);
  if (database.pragma('synchronous', { simple: true }) !== SYNCHRONOUS_FULL) {
    throw new Error('SQLite does not sync its commits: PRAGMA synchronous=FULL is not in force');
  }
  const prepare = database.prepare.bind(database);
  database.prepare = ((source: string) => exactIntegers(prepare(source))) as Database['prepare'];
}

/** A second connection to a database that another one has prepared. It must not write. */
export function prepareForReading(database: Database): void {
  database.pragma(`mmap_size = ${MEMORY_MAP_BYTES}`);
  database.pragma('query_only = ON');
}

/** Calls `onWrite` before whatever may change or commit something on the connection from now on. */
export function watchWrites(database: Database, onWrite: () => void): void {
  const prepare = database.prepare.bind(database);
  database.prepare = ((source: string) => {
    const statement = prepare(source);
    if (statement.reader && statement.readonly) return statement;
    const method = statement.reader ? 'all' : 'run';
    const execute = statement[method].bind(statement) as (...parameters: unknown[]) => never;
    statement[method] = (...parameters: unknown[]) => {
      onWrite();
      return execute(...parameters);
    };
    return statement;
  }) as Database['prepare'];
  const exec = database.exec.bind(database);
  database.exec = (source) => {
    onWrite();
    return exec(source);
  };
}

function exactIntegers(statement: Statement): Statement {
  if (!statement.reader) return statement;
  statement.safeIntegers(true);
  const all = statement.all.bind(statement);
  statement.all = (...parameters: unknown[]) => {
    const rows = all(...parameters) as Record<string, unknown>[];
    rows.forEach(narrow);
    return rows;
  };
  return statement;
}

function narrow(row: Record<string, unknown>): void {
  for (const column in row) {
    const value = row[column];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[column] = number;
  }
}
