/** The few words in which the engines' SQL differs, for the statements written by hand. */
export interface Dialect {
  /** A string expression as a JSON string, quotation marks included. */
  readonly jsonString: (expression: string) => string;
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
    /** Whether a row is not an object, but the value of its only column, and whether that is JSON. */
    readonly column: 'any' | 'json' | undefined = undefined,
  ) {}

  /** A statement of one column, whose values are given as they are: half the cost of an object each. */
  static ofColumn<Value>(name: string, text: (dialect: Dialect) => string): Statement<Value> {
    return new Statement<Value>(name, text, 'any');
  }

  /** A column of JSON texts, none of which holds a line feed of its own; not of a write. */
  static ofJson(name: string, text: (dialect: Dialect) => string): Statement<string> {
    return new Statement<string>(name, text, 'json');
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
