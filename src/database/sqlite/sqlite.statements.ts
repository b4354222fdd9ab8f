import type { Database, Statement as Prepared } from 'better-sqlite3';
import { jsonExpression } from '../json-members.js';
import type { Dialect, Statement } from '../statement.js';

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
