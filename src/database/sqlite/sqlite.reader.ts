import type { Database, Statement as Prepared } from 'better-sqlite3';
import { openForReading } from './sqlite.connection.js';
import { SqliteStatements } from './sqlite.statements.js';
import type { Statement } from '../statement.js';

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
