import { Client } from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { dataSourceOptions, MIGRATIONS_TABLE } from '../data-source-options.js';
import { type KeySequence, SEQUENCES, sequencesOf } from '../sequences.js';
import { quoted, type Sequence, type TransferEnd, type Value } from '../transfer.js';

const BATCH = 1_000;
/** Times in UTC, as SQLite stores them. */
const SESSION = `SET TIME ZONE 'UTC'; SET lock_timeout = '5s'; SET statement_timeout = 0;
  SET idle_in_transaction_session_timeout = 0; SET synchronous_commit = on`;
const COLUMNS = `SELECT relname AS "table", attname AS "column",
    format_type(atttypid, -1) AS type
  FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace AND nspname = current_schema()
  JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
  WHERE relkind IN ('r', 'p') AND NOT relispartition AND attgenerated = '' AND relname <> $1
  ORDER BY relname, attnum`;
/** Statements that stop triggers and foreign keys, and statements that start them again. */
const CHECKS = `
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS stop,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
      pg_get_constraintdef(oid)) AS start
  FROM pg_constraint WHERE contype = 'f' AND conparentid = 0
    AND conrelid = ANY (SELECT to_regclass(quote_ident(name)) FROM unnest($1::text[]) name)
  UNION ALL
  SELECT format('ALTER TABLE %s DISABLE TRIGGER %I', tgrelid::regclass, tgname),
    format('ALTER TABLE %s ENABLE TRIGGER %I', tgrelid::regclass, tgname)
  FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'
    AND tgrelid = ANY (SELECT to_regclass(quote_ident(name)) FROM unnest($1::text[]) name)`;

interface Column {
  table: string;
  column: string;
  type: string;
}

/** The source or target of a copy. It has a separate connection: its statements may take long. */
export class PostgresTransfer implements TransferEnd {
  readonly engine = 'postgres';
  /** The type of each column, by table. */
  private readonly types = new Map<string, Map<string, string>>();
  private checks: { stop: string; start: string }[] = [];

  private constructor(private readonly client: Client) {}

  static async connect(url: string): Promise<PostgresTransfer> {
    const { url: connectionString } = dataSourceOptions(url) as PostgresDataSourceOptions;
    const client = new Client({ connectionString: connectionString!, keepAlive: true });
    // A broken connection rejects the running statement. Without a listener, it ends the process.
    client.on('error', () => undefined);
    await client.connect();
    await client.query(SESSION);
    return new PostgresTransfer(client);
  }

  async tables(): Promise<Map<string, string[]>> {
    this.types.clear();
    for (const { table, column, type } of await this.all<Column>(COLUMNS, MIGRATIONS_TABLE)) {
      const types = this.types.get(table) ?? new Map<string, string>();
      this.types.set(table, types.set(column, type));
    }
    return new Map(Array.from(this.types, ([table, types]) => [table, [...types.keys()]]));
  }

  async beginReading(): Promise<void> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }

  async beginWriting(tables: readonly string[]): Promise<void> {
    await this.client.query('BEGIN');
    const names = tables.map(quoted).join();
    if (names) await this.client.query(`LOCK TABLE ${names} IN SHARE ROW EXCLUSIVE MODE`);
    this.checks = await this.all(CHECKS, tables);
    for (const { stop } of this.checks) await this.client.query(stop);
  }

  async count(table: string): Promise<number> {
    const [row] = await this.all<{ rows: string }>(`SELECT count(*) AS rows FROM ${quoted(table)}`);
    return Number(row!.rows);
  }

  async clear(table: string): Promise<void> {
    await this.client.query(`DELETE FROM ${quoted(table)}`);
  }

  async *read(
    table: string,
    columns: readonly string[],
    into: TransferEnd['engine'],
  ): AsyncIterable<Value[][]> {
    const types = this.types.get(table)!;
    const values = columns.map((column) => {
      const type = types.get(column)!;
      return into === 'sqlite' ? forSqlite(quoted(column), type) : asText(quoted(column), type);
    });
    await this.client.query(
      `DECLARE copied NO SCROLL CURSOR FOR SELECT ${values.join()} FROM ${quoted(table)}`,
    );
    for (;;) {
      const query = { text: `FETCH ${BATCH} FROM copied`, rowMode: 'array' as const };
      const { rows } = await this.client.query<Value[]>(query);
      if (rows.length === 0) break;
      yield rows;
    }
    await this.client.query('CLOSE copied');
  }

  async write(table: string, columns: readonly string[], rows: Value[][]): Promise<void> {
    const types = this.types.get(table)!;
    const values = columns.map((column, index) => fromText(`r.c${index}`, types.get(column)!));
    const parameters = columns.map((_, index) => `$${index + 1}::text[]`);
    const names = columns.map((_, index) => `c${index}`);
    await this.client.query(
      `INSERT INTO ${quoted(table)} (${columns.map(quoted).join()}) OVERRIDING SYSTEM VALUE
        SELECT ${values.join()} FROM unnest(${parameters.join()}) AS r(${names.join()})`,
      columns.map((_, index) => rows.map((row) => row[index])),
    );
  }

  async sequences(): Promise<Sequence[]> {
    const found: Sequence[] = [];
    for (const { table, column, sequence } of await this.keySequences()) {
      const text = `SELECT last_value AS last FROM ${sequence} WHERE is_called`;
      const rows = await this.all<{ last: string }>(text);
      found.push(...rows.map(({ last }) => ({ table, column, last })));
    }
    return found;
  }

  async setSequences(last: readonly Sequence[]): Promise<void> {
    for (const { table, column, sequence } of await this.keySequences()) {
      const given = last.find((each) => each.table === table && each.column === column);
      await this.client.query(
        `SELECT setval($1::regclass, last)
          FROM (SELECT greatest(max(${quoted(column)}), $2::bigint) AS last FROM ${quoted(table)})
          AS found WHERE last > 0`,
        [sequence, given?.last],
      );
    }
  }

  async commit(): Promise<void> {
    for (const { start } of this.checks) await this.client.query(start);
    await this.client.query('COMMIT');
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  private keySequences(): Promise<KeySequence[]> {
    return this.all<KeySequence>(SEQUENCES, ...sequencesOf([...this.types.keys()]));
  }

  private async all<Row>(text: string, ...parameters: unknown[]): Promise<Row[]> {
    return (await this.client.query(text, parameters)).rows as Row[];
  }
}

/** Bytes arrive as a `Buffer`; every other value is the text that PostgreSQL reads again. */
function asText(column: string, type: string): string {
  return type === 'bytea' ? column : `CAST(${column} AS text)`;
}

/** The text that SQLite, by the type of its column, stores as TypeORM does. */
function forSqlite(column: string, type: string): string {
  if (type === 'boolean') return `CAST(CAST(${column} AS int) AS text)`;
  if (type.endsWith('[]')) return `CAST(array_to_json(${column}) AS text)`;
  if (type.startsWith('timestamp')) return `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.MS')`;
  return asText(column, type);
}

/**
 * The value of a text. The type has no length, so that a text that is too long fails in the insert
 * instead of being cut. SQLite has arrays as JSON.
 */
function fromText(value: string, type: string): string {
  const own = `CAST(${value} AS ${type})`;
  if (!type.endsWith('[]')) return own;
  const elements = `SELECT json_array_elements_text(CAST(${value} AS json))`;
  return `CASE WHEN ${value} LIKE '[%' THEN CAST(ARRAY(${elements}) AS ${type}) ELSE ${own} END`;
}
