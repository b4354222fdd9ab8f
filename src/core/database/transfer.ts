export type Value = string | number | bigint | Buffer | null;

/** A column that a sequence assigns, and the last value that it assigned. */
export interface Sequence {
  table: string;
  column: string;
  last: string;
}

type Answer<Result> = Result | Promise<Result>;

/** The source or the empty target of a copy. Each uses one transaction. */
export interface TransferEnd {
  readonly engine: 'sqlite' | 'postgres';
  /** The columns that are stored, by table, without the table of migrations. */
  tables(): Answer<Map<string, string[]>>;
  /** Begins the transaction of the source: one view of the database. */
  beginReading(): Answer<void>;
  /**
   * Begins the transaction of the target: no other writes, and until the commit neither triggers
   * nor foreign keys.
   */
  beginWriting(tables: readonly string[]): Answer<void>;
  count(table: string): Answer<number>;
  clear(table: string): Answer<void>;
  /** Reads rows in batches, with values that the engine `into` can store. */
  read(
    table: string,
    columns: readonly string[],
    into: TransferEnd['engine'],
  ): Iterable<Value[][]> | AsyncIterable<Value[][]>;
  write(table: string, columns: readonly string[], rows: Value[][]): Answer<void>;
  sequences(): Answer<Sequence[]>;
  /** Continues each sequence after its largest value, and after the last value in the source. */
  setSequences(sequences: readonly Sequence[]): Answer<void>;
  commit(): Answer<void>;
  /** Without a commit, nothing was written. */
  close(): Answer<void>;
}

interface Transferred {
  tables: { table: string; source: number; target: number }[];
  /** Tables that no migration has created in the target. */
  notCopied: string[];
}

/**
 * Copies every table into a database that is empty.
 * @param before the tables of the target before it was migrated: rows of others are from migrations
 * @param report receives the progress in words
 * @throws {Error} if the target has rows, or if the counts differ
 */
export async function transfer(
  source: TransferEnd,
  target: TransferEnd,
  before: ReadonlySet<string>,
  report: (progress: string) => void,
): Promise<Transferred> {
  await source.beginReading();
  const from = await source.tables();
  const into = await target.tables();
  await target.beginWriting([...into.keys()]);
  await assertEmpty(target, [...into.keys()], before);
  const result: Transferred = { tables: [], notCopied: [] };
  for (const [table, columns] of from) {
    const known = into.get(table);
    if (known === undefined) {
      result.notCopied.push(table);
      continue;
    }
    const missing = columns.find((column) => !known.includes(column));
    if (missing !== undefined) throw new Error(`the target has no column ${table}.${missing}`);
    const total = await source.count(table);
    let done = 0;
    for await (const rows of source.read(table, columns, target.engine)) {
      await target.write(table, columns, rows);
      done += rows.length;
      report(`${table}: ${done} of ${total}`);
    }
    const copied = await target.count(table);
    if (copied !== total) throw new Error(`${copied} of ${total} rows of ${table} were copied`);
    result.tables.push({ table, source: total, target: copied });
  }
  await target.setSequences(await source.sequences());
  await target.commit();
  return result;
}

async function assertEmpty(
  target: TransferEnd,
  tables: readonly string[],
  before: ReadonlySet<string>,
): Promise<void> {
  const filled: string[] = [];
  for (const table of tables) {
    if (!before.has(table)) await target.clear(table);
    else if ((await target.count(table)) > 0) filled.push(table);
  }
  if (filled.length === 0) return;
  throw new Error(`the target has rows in ${filled.join(', ')}; choose an empty database`);
}

/** Quotes the name of a table or column. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
