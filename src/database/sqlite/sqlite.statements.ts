import type { Database as Connection, Statement as Prepared } from 'better-sqlite3';
import type { Parameter, Statement } from '../database.js';

/** A text of a statement, with the indexes of the parameters that it binds. */
interface Compiled {
  prepared: Prepared;
  order: number[];
}

/**
 * Statements prepared on one connection.
 *
 * The reads of one tick share one read transaction, and so one view of the database: to begin a read costs 2 µs, the
 * read of one row as much. A view ends with its tick and with each write of this process.
 */
export class SqliteStatements {
  private readonly compiled = new Map<Statement, Compiled[]>();
  private readonly begin: Prepared;
  private readonly commit: Prepared;
  private hasView = false;

  constructor(readonly connection: Connection) {
    this.begin = connection.prepare('BEGIN');
    this.commit = connection.prepare('COMMIT');
  }

  read(statement: Statement, parameters: readonly Parameter[]): unknown[] {
    if (!this.hasView) {
      this.begin.run();
      this.hasView = true;
      setImmediate(this.endView);
    }
    return this.run(statement, parameters);
  }

  readonly endView = (): void => {
    if (!this.hasView) return;
    this.hasView = false;
    // An I/O error has ended the transaction already.
    if (!this.connection.inTransaction) return;
    try {
      this.commit.run();
    } catch {
      // A damaged page is reported again here; the read that found it has failed with it.
      if (this.connection.inTransaction) this.connection.exec('ROLLBACK');
    }
  };

  run(statement: Statement, parameters: readonly Parameter[]): unknown[] {
    let rows: unknown[] | undefined;
    for (const { prepared, order } of this.of(statement)) {
      const values = order.map((index) => parameters[index]);
      const own = prepared.reader ? prepared.all(values) : void prepared.run(values);
      rows ??= own ?? [];
    }
    return rows!;
  }

  private of(statement: Statement): Compiled[] {
    let compiled = this.compiled.get(statement);
    if (compiled === undefined) {
      compiled = [statement.sqlite].flat().map((text) => this.compile(text, statement.isJson));
      this.compiled.set(statement, compiled);
    }
    return compiled;
  }

  /**
   * better-sqlite3 binds an array to anonymous parameters only. A LIMIT becomes an expression: for a plain parameter,
   * SQLite plans the statement anew at each binding, a tenth of the cost of a page.
   */
  private compile(text: string, isJson: true | undefined): Compiled {
    const order: number[] = [];
    const anonymous = text
      .replace(/LIMIT \$/g, 'LIMIT +$')
      .replace(/\$(\d+)/g, (_parameter, ordinal) => (order.push(Number(ordinal) - 1), '?'));
    const prepared = this.connection.prepare(anonymous);
    if (isJson) prepared.pluck();
    return { prepared, order };
  }
}
