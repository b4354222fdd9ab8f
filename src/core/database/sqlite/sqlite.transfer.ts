import { MIGRATIONS_TABLE } from '../data-source-options.js';
import { quoted, type Sequence, type TransferEnd, type Value } from '../transfer.js';
import { SqliteConnection } from './sqlite.connection.js';
import { lockFile } from './sqlite.file.js';

const BATCH = 1_000;
const SEQUENCES = `SELECT s.name AS "table", c.name AS "column", CAST(s.seq AS text) AS last
  FROM sqlite_sequence s JOIN pragma_table_info(s.name) c ON c.pk = 1`;
/** The column that `AUTOINCREMENT` assigns. */
const KEY = `SELECT c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c ON c.pk = 1
  WHERE s.name = ? AND s.sql LIKE '%AUTOINCREMENT%'`;

/** The source or target of a copy. No server can open the file during the copy. */
export class SqliteTransfer implements TransferEnd {
  readonly engine = 'sqlite';
  private readonly release: () => void;
  private readonly database: SqliteConnection;
  private triggers: string[] = [];

  /** @throws {DatabaseServedError} if a server has the database */
  constructor(path: string) {
    this.release = lockFile(path);
    this.database = new SqliteConnection(path).defaultSafeIntegers();
  }

  tables(): Map<string, string[]> {
    const rows = this.all<{ table: string; columns: string }>(
      `SELECT t.name AS "table", json_group_array(c.name) AS columns
        FROM pragma_table_list t JOIN pragma_table_info(t.name) c
        WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT IN (?, 'sqlite_schema')
          AND substr(t.name, 1, 7) <> 'sqlite_'
        GROUP BY t.name ORDER BY t.name`,
      MIGRATIONS_TABLE,
    );
    return new Map(rows.map(({ table, columns }) => [table, JSON.parse(columns) as string[]]));
  }

  beginReading(): void {
    this.database.exec('BEGIN');
  }

  beginWriting(): void {
    this.database.exec('BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON');
    const triggers = this.all<{ name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`,
    );
    for (const { name } of triggers) this.database.exec(`DROP TRIGGER ${quoted(name)}`);
    this.triggers = triggers.map(({ sql }) => sql);
  }

  count(table: string): number {
    const [row] = this.all<{ rows: bigint }>(`SELECT count(*) AS rows FROM ${quoted(table)}`);
    return Number(row!.rows);
  }

  clear(table: string): void {
    this.database.exec(`DELETE FROM ${quoted(table)}`);
  }

  *read(table: string, columns: readonly string[]): Iterable<Value[][]> {
    const text = `SELECT ${columns.map(quoted).join()} FROM ${quoted(table)}`;
    let rows: Value[][] = [];
    for (const row of this.database.prepare(text).raw().iterate()) {
      if (rows.push(row as Value[]) < BATCH) continue;
      yield rows;
      rows = [];
    }
    if (rows.length > 0) yield rows;
  }

  write(table: string, columns: readonly string[], rows: Value[][]): void {
    // A text from PostgreSQL is converted by the type of the column.
    const insert = this.database.prepare(
      `INSERT INTO ${quoted(table)} (${columns.map(quoted).join()})
        VALUES (${columns.map(() => '?').join()})`,
    );
    for (const row of rows) insert.run(row);
  }

  sequences(): Sequence[] {
    return this.hasSequences ? this.all<Sequence>(SEQUENCES) : [];
  }

  setSequences(sequences: readonly Sequence[]): void {
    if (!this.hasSequences) return;
    for (const { table, column, last } of sequences) {
      const [key] = this.all<{ name: string }>(KEY, table);
      if (key?.name !== column) continue;
      this.database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table);
      const set = this.database.prepare(
        `INSERT INTO sqlite_sequence (name, seq)
          SELECT ?, max(CAST(? AS integer), coalesce(max(${quoted(column)}), 0))
          FROM ${quoted(table)}`,
      );
      set.run(table, last);
    }
  }

  commit(): void {
    for (const trigger of this.triggers) this.database.exec(trigger);
    this.database.exec('COMMIT');
  }

  close(): void {
    this.database.close();
    this.release();
  }

  /** The table of sequences exists with the first `AUTOINCREMENT`. */
  private get hasSequences(): boolean {
    return this.all(`SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'`).length > 0;
  }

  private all<Row>(text: string, ...parameters: string[]): Row[] {
    return this.database.prepare(text).all(...parameters) as Row[];
  }
}
