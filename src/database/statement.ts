import type { JsonMembers } from './json-members.js';

/** The few words in which the engines' SQL differs, for the statements written by hand. */
export interface Dialect {
  /** What to select of a row that is to become JSON: see `Statement.ofJson`. */
  readonly json: (members: JsonMembers) => string;
  /** The database's clock, the same for all who use it: Unix milliseconds. */
  readonly nowMs: string;
}

/**
 * One SQL statement, prepared once per connection. Its text numbers parameters `$1`, `$2`, ... in the
 * order of their use, each used once. An int64 result that a Number might round is cast to text.
 * @typeParam Row the shape of a result row
 */
export class Statement<Row = unknown> {
  /** Only a type: what the rows are. */
  declare readonly row: Row;

  constructor(
    /** Names the prepared statement on the server; unique in the application. */
    readonly name: string,
    readonly text: (dialect: Dialect) => string,
    /** What the rows are as JSON, where they are JSON texts instead of objects. */
    readonly json: JsonMembers | undefined = undefined,
  ) {}

  /**
   * A statement whose rows are JSON texts. They are made where that costs least: by SQLite itself, which
   * runs in this process, and of the columns of PostgreSQL here, whose processor all nodes share.
   * @param text of the statement, given what it has to select or return
   */
  static ofJson(
    name: string,
    members: JsonMembers,
    text: (json: string) => string,
  ): Statement<string> {
    return new Statement<string>(name, ({ json }) => text(json(members)), members);
  }
}

export type Parameter = string | number | bigint | null;

/** A statement that a unit of work asks for. */
export interface Step {
  statement: Statement;
  parameters: readonly Parameter[];
}

/**
 * Work that is done wholly or not at all. It is a generator that yields statements and is given their
 * rows, because the engines differ in when: SQLite runs it to its end without leaving the turn of the
 * event loop, so that no other request can come between; PostgreSQL awaits each statement.
 * It may be run again from its start, so it must not change anything but the database.
 */
export type Work<Result> = Generator<Step, Result, unknown[]>;

/** Within a unit of work: `const rows = yield* run(STATEMENT, ...)`. */
export function* run<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Work<Row[]> {
  return (yield { statement, parameters }) as Row[];
}
