import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { Journal } from '../database/journal.js';
import { run, Statement, type Work } from '../database/statement.js';
import { isAddress } from './subject.js';

/** What of a subject's counter is saved; see `windows.ts` for the numbering of windows. */
export interface SavedCount {
  subject: string;
  minute: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
}

type CountRow = { subject: string } & Record<Exclude<keyof SavedCount, 'subject'>, number | string>;

/** Takes some milliseconds, of which SQLite holds up the event loop. */
const ROWS_OF_PAGE = 5_000;

const COLUMNS = 'subject, minute, minute_used AS "minuteUsed", day, day_used AS "dayUsed"';

/** Of two counts of a window the higher one: several nodes may have counted apart. */
function latestOf(window: 'minute' | 'day'): string {
  const known = (column: string): string => `rate_limit_counters.${column}`;
  const isOlder = `excluded.${window} < ${known(window)}`;
  const isLess = `excluded.${window} = ${known(window)} AND excluded.${window}_used < ${known(`${window}_used`)}`;
  return [window, `${window}_used`]
    .map(
      (column) =>
        `${column} = CASE WHEN ${isOlder} OR (${isLess}) THEN ${known(column)} ELSE excluded.${column} END`,
    )
    .join(', ');
}

/** The columns of each count in an array of them. */
const ENTRY = `entry.value ->> 0 AS subject, ${['minute', 'minute_used', 'day', 'day_used']
  .map((column, index) => `CAST(entry.value ->> ${index + 1} AS bigint) AS ${column}`)
  .join(', ')}`;

/** A count never shrinks within its window, so an older one that arrives late changes nothing. */
const SAVE = new Statement(
  'counters.save',
  ({ elements }) => `INSERT INTO rate_limit_counters (subject, minute, minute_used, day, day_used)
    SELECT ${ENTRY} FROM ${elements('$1', 'entry')} WHERE true
    ON CONFLICT (subject) DO UPDATE SET ${latestOf('minute')}, ${latestOf('day')}
    WHERE excluded.minute > rate_limit_counters.minute
      OR (excluded.minute = rate_limit_counters.minute
        AND excluded.minute_used > rate_limit_counters.minute_used)
      OR excluded.day_used > rate_limit_counters.day_used`,
);
/** Whatever day they are of: so many rows are read, and no more. */
const PAGE = new Statement<CountRow>(
  'counters.page',
  () => `SELECT ${COLUMNS} FROM rate_limit_counters WHERE subject > $1
    ORDER BY subject LIMIT ${ROWS_OF_PAGE}`,
);
const FIND = new Statement<CountRow>(
  'counters.find',
  () => `SELECT ${COLUMNS} FROM rate_limit_counters WHERE subject = $1`,
);
/** What a process has counted only grows: of its entries the last one that names the subject tells it. */
const FIND_IN_JOURNAL = new Statement<CountRow>(
  'counters.find-in-journal',
  ({ elements, contains }) => `SELECT ${COLUMNS} FROM (
      SELECT ${ENTRY} FROM rate_limit_journal, ${elements('rate_limit_journal.counts', 'entry')}
      WHERE (writer, sequence) IN (SELECT writer, MAX(sequence) FROM rate_limit_journal
        WHERE ${contains('counts', '$1')} GROUP BY writer)
    ) journalled WHERE subject = $2`,
);
const FORGET = new Statement(
  'counters.forget',
  () => 'DELETE FROM rate_limit_counters WHERE subject = $1',
);
/** A row that another node saves at this moment is none of an earlier day any more. */
const FORGET_BEFORE = new Statement(
  'counters.forget-before',
  ({ skipLocked }) => `DELETE FROM rate_limit_counters WHERE subject IN
    (SELECT subject FROM rate_limit_counters WHERE day < $1 LIMIT $2
      ${skipLocked('rate_limit_counters')})
    RETURNING 1`,
);

/** The in-process counters as the database keeps them. */
@Injectable()
export class CounterLedger {
  /** What was counted, until it is brought to its rows. */
  readonly journal: Journal;

  constructor(private readonly engine: Engine) {
    this.journal = new Journal(engine, 'rate_limit_journal', SAVE);
  }

  /** One entry, however many counts. */
  append(writer: string, sequence: number, counts: readonly SavedCount[]): Promise<void> {
    return this.journal.append(writer, sequence, counts.map(toColumns));
  }

  save(counts: readonly SavedCount[]): Promise<void> {
    return this.journal.save(counts.map(toColumns));
  }

  /**
   * The counts of a day, and of any later one, some thousands at a time: of all keys, some of them more than once; at
   * last of the addresses seen last, the latest at the end. Addresses can be made up without number.
   */
  async *since(day: number, maxAddresses: number): AsyncGenerator<SavedCount[]> {
    let addresses = new Map<string, SavedCount>();
    for await (const page of this.pages()) {
      const counts = page.filter((count) => count.day >= day);
      for (const count of counts.filter(isOfAddress)) {
        const known = addresses.get(count.subject);
        addresses.set(count.subject, known === undefined ? count : higher(count, known));
      }
      if (addresses.size > 2 * maxAddresses) addresses = latest(addresses, maxAddresses);
      yield counts.filter((count) => !isOfAddress(count));
      await nextTurn();
    }
    yield [...latest(addresses, maxAddresses).values()];
  }

  async find(subject: string): Promise<SavedCount | undefined> {
    const inJson = JSON.stringify(subject);
    // The journal first: what is brought meanwhile is found twice rather than not at all.
    const journalled = await this.engine.query(FIND_IN_JOURNAL, inJson, subject);
    const counts = [...journalled, ...(await this.engine.query(FIND, subject))].map(toCount);
    return counts.length === 0 ? undefined : counts.reduce(higher);
  }

  async forget(subjects: readonly string[]): Promise<void> {
    await this.engine.write(() => forgetAll(subjects));
  }

  /** Forgets at most so many counts of earlier days; resolves to how many there were. */
  async forgetBefore(day: number, rows: number): Promise<number> {
    return (await this.engine.write(() => run(FORGET_BEFORE, day, rows))).length;
  }

  /**
   * All that is there: first the journal, so that what another process brings meanwhile is told twice rather than not
   * at all; then the rows, by the index of subjects, for there may be more than the time of one statement is enough for.
   */
  private async *pages(): AsyncGenerator<SavedCount[]> {
    for await (const entry of this.journal.entries()) yield (entry as Columns[]).map(ofColumns);
    let last = '';
    for (let isOver = false; !isOver;) {
      const page = await this.engine.query(PAGE, last);
      isOver = page.length < ROWS_OF_PAGE;
      last = page.at(-1)?.subject ?? last;
      yield page.map(toCount);
    }
  }
}

function* forgetAll(subjects: readonly string[]): Work<void> {
  for (const subject of subjects) yield* run(FORGET, subject);
}

/** Those counted last, so many at most, the latest at the end. */
function latest(counts: Map<string, SavedCount>, most: number): Map<string, SavedCount> {
  const inTime = [...counts].sort(([, one], [, other]) => one.minute - other.minute);
  return new Map(inTime.slice(-most));
}

/** Of each window what was counted last, or most. */
function higher(one: SavedCount, other: SavedCount): SavedCount {
  const { subject } = one;
  const isMinute = (one.minute - other.minute || one.minuteUsed - other.minuteUsed) > 0;
  const isDay = (one.day - other.day || one.dayUsed - other.dayUsed) > 0;
  const { minute, minuteUsed } = isMinute ? one : other;
  const { day, dayUsed } = isDay ? one : other;
  return { subject, minute, minuteUsed, day, dayUsed };
}

function isOfAddress({ subject }: SavedCount): boolean {
  return isAddress(subject);
}

type Columns = [subject: string, ...windows: [number, number, number, number]];

function toColumns({ subject, minute, minuteUsed, day, dayUsed }: SavedCount): Columns {
  return [subject, minute, minuteUsed, day, dayUsed];
}

function ofColumns([subject, minute, minuteUsed, day, dayUsed]: Columns): SavedCount {
  return { subject, minute, minuteUsed, day, dayUsed };
}

function toCount({ subject, minute, minuteUsed, day, dayUsed }: CountRow): SavedCount {
  return {
    subject,
    minute: Number(minute),
    minuteUsed: Number(minuteUsed),
    day: Number(day),
    dayUsed: Number(dayUsed),
  };
}
