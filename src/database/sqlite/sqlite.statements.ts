import type { Database, Statement as Prepared } from 'better-sqlite3';
import { jsonExpression } from '../json-members.js';
import type { Dialect, Statement } from '../statement.js';
import { openForReading } from './sqlite.connection.js';

export const SQLITE: Dialect = {
  json: jsonExpression,
  nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  elements: (array, name) => `json_each(${array}) AS ${name}`,
  members: (object) => `(SELECT key AS name, value FROM json_each(${object}))`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  locksRows: false,
  skipLocked: () => '',
};

/** The statements that are prepared on one connection of SQLite. */
export class SqliteStatements {
  private readonly prepared = new Map<Statement, Prepared>();

  constructor(private readonly database: Database) {}

  /** A statement whose `all()` gives its rows, none where it is a write without RETURNING. */
  of(statement: Statement): Prepared {
    let prepared = this.prepared.get(statement);
    if (prepared === undefined) {
      prepared = this.database.prepare(positional(statement.text(SQLITE)));
      if (statement.json !== undefined) prepared.pluck();
      if (!prepared.reader) {
        const write = prepared.run.bind(prepared);
        prepared.all = (...parameters) => (write(...parameters), []);
      }
      this.prepared.set(statement, prepared);
    }
    return prepared;
  }
}

/**
 * better-sqlite3 binds an array to anonymous parameters only. A limit is an expression: SQLite would plan the
 * statement anew for each binding of one that is nothing but a parameter, a tenth of what a page costs.
 */
function positional(text: string): string {
  let expected = 1;
  return text.replace(/(LIMIT )?\$(\d+)/g, (_parameter, limit: string | undefined, number) => {
    if (Number(number) !== expected++) throw new Error(`Parameters out of order in: ${text}`);
    return limit === undefined ? '?' : `${limit}+?`;
  });
}

/**
 * Reads of SQLite, on a connection of their own.
 *
 * To begin a read costs more than to find a row, so the reads of one turn of the event loop share one
 * read transaction, and with it one view of the database. A view ends with its turn, and whenever this
 * process writes: whoever wrote finds what it wrote.
 */
export class SqliteReader {
  private readonly statements: SqliteStatements;
  private readonly database: Database;
  private readonly begin: () => void;
  private readonly commit: () => void;
  private readonly rollback: () => void;
  private viewing = false;

  /** @param path of a database file that exists */
  constructor(path: string) {
    this.database = openForReading(path);
    this.statements = new SqliteStatements(this.database);
    const [begin, commit, rollback] = ['BEGIN', 'COMMIT', 'ROLLBACK'].map((text) =>
      this.database.prepare(text),
    );
    this.begin = () => void begin!.run();
    this.commit = () => void commit!.run();
    this.rollback = () => void rollback!.run();
  }

  /** A statement to be run at once. It reads what was committed when this turn first asked. */
  of(statement: Statement): Prepared {
    if (!this.viewing) {
      this.begin();
      this.viewing = true;
      setImmediate(this.endView);
    }
    return this.statements.of(statement);
  }

  /** The next read sees what is committed by then. */
  readonly endView = (): void => {
    if (!this.viewing) return;
    this.viewing = false;
    // An error, such as one of the disk, has ended it already.
    if (!this.database.inTransaction) return;
    try {
      this.commit();
    } catch {
      // Of a page that is damaged it complains again, to nobody: who met it was told. The next view has to begin.
      if (this.database.inTransaction) this.rollback();
    }
  };

  close(): void {
    this.endView();
    this.database.close();
  }
}
