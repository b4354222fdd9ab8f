import { jsonWriter } from '../json-members.js';
import type { Dialect, ForMany, Parameter, Statement } from '../statement.js';

export const POSTGRES: Dialect = {
  json: (members) => members.map(({ column }) => column).join(),
  nowMs: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  elements: (array, name) => `json_array_elements(CAST(${array} AS json)) AS ${name}(value)`,
  members: (object) => `(SELECT key AS name, CAST(value AS bigint) AS value
    FROM json_each_text(CAST(${object} AS json)))`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  locksRows: true,
  skipLocked: (table) => `FOR UPDATE OF ${table} SKIP LOCKED`,
};

export interface Query {
  /** Of what is prepared on the connection. */
  name?: string | undefined;
  text: string;
  rowMode?: 'array' | undefined;
  values?: unknown[];
}

/** As it is to be asked now. Member by member: a copy with one more costs a microsecond. */
export function asked({ name, text, rowMode }: Query, values: unknown[]): Query {
  return { name, text, rowMode, values };
}

type ToValue = (row: unknown) => unknown;

export interface Prepared {
  one: Query;
  /** For many sets of parameters at once, where the statement can. */
  many: Query | undefined;
  /** Whether `many` tells by `place` whose a row is. */
  isNumbered: boolean;
  /** What is to be made of a row; undefined where that is what the statement gives. */
  toValue: ToValue | undefined;
}

/** Statements in the words of PostgreSQL, each put into them once. */
export class PostgresStatements {
  private readonly prepared = new Map<Statement, Prepared>();

  of(statement: Statement): Prepared {
    let prepared = this.prepared.get(statement);
    if (prepared === undefined) this.prepared.set(statement, (prepared = prepare(statement)));
    return prepared;
  }
}

function prepare(statement: Statement): Prepared {
  const { name, json, many, isPlannedEachTime } = statement;
  const rows = json === undefined ? {} : { rowMode: 'array' as const };
  const named = (kept: string) => ({ name: isPlannedEachTime ? undefined : kept, ...rows });
  return {
    one: { ...named(name), text: statement.text(POSTGRES) },
    many: many && { ...named(`${name}.many`), text: many.text(given(many), POSTGRES) },
    isNumbered: many?.isNumbered ?? false,
    toValue: json && (jsonWriter(json) as ToValue),
  };
}

function given({ columns }: ForMany): string {
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  const names = Object.keys(columns).join(', ');
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS given(${names}, place)`;
}

/** The sets of parameters as `given` takes them: an array of each column's values. */
export function byColumn(sets: readonly (readonly Parameter[])[]): Parameter[][] {
  return sets[0]!.map((_none, column) => sets.map((set) => set[column]!));
}

/** The rows of each set, or what is to be made of them: each tells by its `place`, from 1 on, whose it is. */
export function bySet({ toValue }: Prepared, rows: readonly unknown[], sets: number): unknown[][] {
  const each: unknown[][] = Array.from({ length: sets }, () => []);
  for (const row of rows) {
    const isObject = toValue === undefined;
    const place = isObject ? (row as { place: string }).place : (row as string[]).at(-1);
    each[Number(place) - 1]!.push(isObject ? row : toValue(row));
  }
  return each;
}
