import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { run, Statement, type Work } from '../database/statement.js';
import { ADDRESS_PREFIX } from './subject.js';

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

/** A count never shrinks within its window, so an older one that arrives late changes nothing. */
const SAVE = new Statement(
  'counters.save',
  () => `INSERT INTO rate_limit_counters (subject, minute, minute_used, day, day_used)
    VALUES ($1, $2, $3, $4, $5)
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
  constructor(private readonly engine: Engine) {}

  async save(counts: readonly SavedCount[]): Promise<void> {
    await this.engine.write(() => saveAll(counts));
  }

  /**
   * The counts of a day, and of any later one: of all keys, and of the addresses seen last, the latest
   * of them at the end. Addresses can be made up without number, and all that is told is in memory. In pages, each
   * by the index of subjects: there may be more rows than the time of one statement is enough for.
   */
  async since(day: number, maxAddresses: number): Promise<SavedCount[]> {
    const keys: SavedCount[] = [];
    let addresses: SavedCount[] = [];
    let last = '';
    for (let isOver = false; !isOver;) {
      const page = await this.engine.query(PAGE, last);
      isOver = page.length < ROWS_OF_PAGE;
      last = page.at(-1)?.subject ?? last;
      for (const count of page.map(toCount)) {
        if (count.day < day) continue;
        if (count.subject.startsWith(ADDRESS_PREFIX)) addresses.push(count);
        else keys.push(count);
      }
      const areMany = isOver || addresses.length > 2 * maxAddresses;
      if (areMany) addresses = latest(addresses, maxAddresses);
    }
    return [...keys, ...addresses];
  }

  async find(subject: string): Promise<SavedCount | undefined> {
    const row = await this.engine.first(FIND, subject);
    return row && toCount(row);
  }

  async forget(subjects: readonly string[]): Promise<void> {
    await this.engine.write(() => forgetAll(subjects));
  }

  /** Forgets at most so many counts of earlier days; resolves to how many there were. */
  async forgetBefore(day: number, rows: number): Promise<number> {
    return (await this.engine.write(() => run(FORGET_BEFORE, day, rows))).length;
  }
}

function* saveAll(counts: readonly SavedCount[]): Work<void> {
  for (const { subject, minute, minuteUsed, day, dayUsed } of counts) {
    yield* run(SAVE, subject, minute, minuteUsed, day, dayUsed);
  }
}

function* forgetAll(subjects: readonly string[]): Work<void> {
  for (const subject of subjects) yield* run(FORGET, subject);
}

/** Those counted last, so many at most, the latest at the end. */
function latest(counts: SavedCount[], most: number): SavedCount[] {
  return counts.sort((one, other) => one.minute - other.minute).slice(-most);
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
