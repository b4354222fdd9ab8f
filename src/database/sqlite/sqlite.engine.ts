import type { OnApplicationShutdown } from '@nestjs/common';
import type { Database, Statement as Prepared } from 'better-sqlite3';
import { batchPerTick } from '../../time/batch-per-tick.js';
import { Engine, type PoolState } from '../engine.js';
import { jsonExpression } from '../json-members.js';
import { isBusy, isOutage } from '../outage.js';
import type { Dialect, Parameter, Statement, Step, Work } from '../statement.js';
import { assertOutsideTransaction } from '../transactions.js';
import { openForReading, openForWriting } from './sqlite.connection.js';
import type { SqliteDataSource } from './sqlite.data-source.js';
import type { SqliteFile, WriteGate } from './sqlite.file.js';
import { LOCK_DEADLINE_MS, LOCK_RETRY_MS } from './sqlite.writes.js';

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

interface Unit {
  work: () => Work<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  /** When it stops waiting for the lock of another process. */
  deadline: number;
}

/** What came of a unit, to be told once it is committed. */
type Settle = () => void;

interface Connections {
  writer: Database;
  statements: SqliteStatements;
  reader: SqliteReader;
}

/**
 * SQLite, on connections of its own: one for writes, one for reads.
 *
 * Group commit: the units of work of one turn of the event loop share a transaction, and so one sync of
 * the disk, which is what a commit costs. Their callers hear of it after that commit. A unit that fails
 * before it has written is left out; where one has written, all of it is undone and done again, with a
 * savepoint for each unit.
 */
export class SqliteEngine extends Engine implements OnApplicationShutdown {
  private readonly file: SqliteFile;
  private readonly gate: WriteGate;
  private readonly turn = batchPerTick<Unit>((units) => this.conclude(units));
  private opened: Connections | undefined;
  /** Whether the unit under way has changed anything. */
  private hasWritten = false;
  private waiting: Unit[] = [];
  /** Whether what waits has its place in the row of writers. */
  private isInRow = false;
  private withSavepoints = false;

  constructor({ file, writes }: SqliteDataSource) {
    super();
    this.file = file;
    this.gate = writes.gate;
    this.gate.onLeave(() => this.opened?.reader.endView());
  }

  query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Row[] {
    return this.reader.of(statement).all(parameters) as Row[];
  }

  first<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Row | undefined {
    return this.reader.of(statement).get(parameters) as Row | undefined;
  }

  write<Result>(work: () => Work<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      assertOutsideTransaction();
      this.turn({ work, resolve: resolve as Unit['resolve'], reject, deadline: 0 });
    });
  }

  observe<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    return Promise.resolve().then(() => this.query(statement, ...parameters));
  }

  ping(): Promise<void> {
    return Promise.resolve().then(() => {
      this.file.assertInPlace();
      this.connections.writer.pragma('schema_version');
    });
  }

  /** Of the writers, who take turns; a read waits for nobody. */
  pool(): PoolState {
    const { isTaken, waiting } = this.gate.state;
    return { inUse: isTaken ? 1 : 0, idle: isTaken ? 0 : 1, waiting };
  }

  onApplicationShutdown(): void {
    this.opened?.reader.close();
    this.opened?.writer.close();
  }

  private conclude(units: Unit[]): void {
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    for (const unit of units) unit.deadline = deadline;
    this.waiting = this.waiting.length === 0 ? units : [...this.waiting, ...units];
    if (this.isInRow) return;
    this.isInRow = true;
    if (this.gate.tryEnter()) this.commit();
    else void this.gate.enter().then(this.commit);
  }

  /** Commits all that waits; whoever calls it has the gate. */
  private readonly commit = (): void => {
    try {
      this.begin();
    } catch (error) {
      this.giveUpOrRetry(error);
      return;
    }
    const units = this.waiting;
    this.waiting = [];
    const settled = this.complete(units);
    if (settled === undefined) {
      // All of it once more, waiting like the first time if another process comes between.
      this.withSavepoints = true;
      this.waiting = units;
      this.commit();
      return;
    }
    this.leave();
    for (const settle of settled) settle();
  };

  private leave(): void {
    this.withSavepoints = false;
    this.isInRow = false;
    this.gate.leave();
  }

  private giveUpOrRetry(error: unknown): void {
    const now = performance.now();
    const late = isBusy(error)
      ? this.waiting.filter(({ deadline }) => deadline <= now)
      : this.waiting;
    this.waiting = this.waiting.filter((unit) => !late.includes(unit));
    for (const unit of late) unit.reject(error);
    if (this.waiting.length > 0) setTimeout(this.commit, LOCK_RETRY_MS);
    else this.leave();
  }

  /** Fails at once where another process is writing: waiting here would hold up everyone. */
  private begin(): void {
    this.file.assertInPlace();
    this.connections.writer.exec('BEGIN IMMEDIATE');
  }

  /** Runs the units in the open transaction and commits it; undefined where they have to be run again. */
  private complete(units: readonly Unit[]): Settle[] | undefined {
    const { writer } = this.connections;
    try {
      const settled: Settle[] = [];
      for (const unit of units) {
        const settle = this.attempt(unit, writer);
        if (settle === undefined) {
          writer.exec('ROLLBACK');
          return undefined;
        }
        settled.push(settle);
      }
      writer.exec('COMMIT');
      this.onCommit?.(units.length);
      return settled;
    } catch (error) {
      if (writer.inTransaction) writer.exec('ROLLBACK');
      return units.map(
        ({ reject }) =>
          () =>
            reject(error),
      );
    }
  }

  /** @throws what ends the transaction of all; undefined where this unit has left something behind */
  private attempt({ work, resolve, reject }: Unit, writer: Database): Settle | undefined {
    this.hasWritten = false;
    if (this.withSavepoints) writer.exec('SAVEPOINT unit');
    try {
      const result = this.drive(work());
      return () => resolve(result);
    } catch (error) {
      if (isOutage(error) || !writer.inTransaction) throw error;
      if (this.withSavepoints) writer.exec('ROLLBACK TO unit');
      else if (this.hasWritten) return undefined;
      return () => reject(error);
    } finally {
      if (this.withSavepoints && writer.inTransaction) writer.exec('RELEASE unit');
    }
  }

  private drive(work: Work<unknown>): unknown {
    const { statements } = this.connections;
    let step = work.next();
    while (!step.done) {
      const { statement, parameters }: Step = step.value;
      const prepared: Prepared = statements.of(statement);
      const rows = prepared.all(parameters);
      // One that fails leaves nothing behind.
      if (!prepared.readonly) this.hasWritten = true;
      step = work.next(rows);
    }
    return step.value;
  }

  private get reader(): SqliteReader {
    return this.connections.reader;
  }

  /** Opened when they are first needed: whoever only describes the service needs no database. */
  private get connections(): Connections {
    return (this.opened ??= this.open());
  }

  private open(): Connections {
    const { path } = this.file;
    const writer = openForWriting(path);
    return { writer, statements: new SqliteStatements(writer), reader: new SqliteReader(path) };
  }
}
