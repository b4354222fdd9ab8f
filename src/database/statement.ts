/** The few words in which the engines' SQL differs, for the statements written by hand. */
export interface Dialect {
  /** The database's clock, the same for all who use it: Unix milliseconds. */
  readonly nowMs: string;
  /** The members of a JSON object of numbers, as rows of `name` and `value`. */
  readonly members: (object: string) => string;
  /** The elements of a JSON array, as rows of `value` under that name; `value ->> 0` is the first of one. */
  readonly elements: (array: string, name: string) => string;
  /** Whether a text has another one in it. */
  readonly contains: (text: string, part: string) => string;
  /** Whether writers go side by side, each with locks on its rows, or one after the other. */
  readonly locksRows: boolean;
  /** Locks the rows of `table` that a subselect finds, and leaves out those that others have locked. */
  readonly skipLocked: (table: string) => string;
}

/** How a statement does for many sets of parameters what it does for one, where an engine has a use for that. */
export interface ForMany {
  /** What the parameters are, in their order. */
  readonly columns: Readonly<Record<string, 'text' | 'bigint'>>;
  /**
   * @param given a relation of these columns, a row for each set of parameters, and of `place`, by which
   *   the rows are numbered from 1 on
   */
  readonly text: (given: string, dialect: Dialect) => string;
  /** Whether each result row names whose it is as its `place`, its last column; otherwise each set has one, in their order. */
  readonly isNumbered?: true;
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
    readonly json: undefined = undefined,
    readonly many: ForMany | undefined = undefined,
    /**
     * Of a table that grows fast from nothing: a plan that was made while it was small, and goes through all of it,
     * must not be kept until the database next looks how large it is.
     */
    readonly isPlannedEachTime = false,
  ) {}

  /** @see isPlannedEachTime */
  static plannedEachTime<Row>(
    name: string,
    text: Statement['text'],
    many?: ForMany,
  ): Statement<Row> {
    return new Statement<Row>(name, text, undefined, many, true);
  }
}

export type Parameter = string | number | bigint | null;

/** A statement that a unit of work asks for. */
export interface Step {
  statement: Statement;
  parameters: readonly Parameter[];
  /** Rather than wait for a row that another unit of work holds, it fails with `HeldError`. */
  isImpatient?: boolean;
}

/** Another unit of work, of whichever node, holds the row. */
export class HeldError extends Error {
  constructor(cause?: unknown) {
    super('Another unit of work holds the row', { cause });
  }
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

/**
 * Like `run`, for a row that another unit of work may be about to write: it is not waited for.
 * @throws {HeldError} which ends this unit of work
 */
export function* runUnlessHeld<Row>(
  statement: Statement<Row>,
  ...parameters: Parameter[]
): Work<Row[]> {
  return (yield { statement, parameters, isImpatient: true }) as Row[];
}
