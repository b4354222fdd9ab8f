import { statSync } from 'node:fs';

/**
 * The file of a database, as it was opened. A file that is moved or removed stays open and takes writes,
 * which whoever opens the path next will not find: SQLite itself notices only without a WAL.
 */
export class SqliteFile {
  private readonly opened: string | undefined;

  /** @param path `:memory:` leads to no file, now as ever */
  constructor(private readonly path: string) {
    this.opened = identityOf(path);
  }

  /** @throws {DatabaseMoved} where the path no longer leads to the file that is open */
  assertInPlace(): void {
    if (identityOf(this.path) !== this.opened) throw new DatabaseMoved();
  }
}

class DatabaseMoved extends Error {
  /** What SQLite calls it. */
  readonly code = 'SQLITE_READONLY_DBMOVED';

  constructor() {
    super('The database file was moved or removed');
  }
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}/${ino}`;
  } catch {
    return undefined;
  }
}
