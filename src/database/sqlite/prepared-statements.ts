import type { Database, Statement as Prepared } from 'better-sqlite3';
import type { Parameter, Statement } from '../database.js';

/** The statements of one connection, prepared at their first use. */
export class PreparedStatements {
  private readonly prepared = new Map<Statement, Prepared>();

  constructor(private readonly connection: Database) {}

  run(statement: Statement, parameters: readonly Parameter[]): unknown[] {
    const prepared = this.prepared.get(statement) ?? this.prepare(statement);
    if (prepared.reader) return prepared.all(parameters);
    prepared.run(parameters);
    return [];
  }

  private prepare(statement: Statement): Prepared {
    // better-sqlite3 binds an array to anonymous parameters only.
    const prepared = this.connection.prepare(statement.sqlite.replace(/\$\w+/g, '?'));
    if (statement.isJson) prepared.pluck();
    this.prepared.set(statement, prepared);
    return prepared;
  }
}
