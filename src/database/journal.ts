import type { Engine } from './engine.js';
import { eachInOrder } from './in-order.js';
import { run, Statement } from './statement.js';

/** Who has been silent for so long has ended, and left its entries to others. */
const DEAD_MS = 300_000;
const ENTRIES_AT_ONCE = 20;

/** A count: by the columns of the row that it is brought to, the first of which says whose it is. */
type Count = [name: string, ...columns: unknown[]];

interface Entry {
  writer: string;
  sequence: number | string;
  counts: string;
}

/**
 * A table of what processes have counted and not yet brought to the rows that tell of it. An entry is a thousand or less
 * of what has changed, as a JSON array of counts: a row for each would be a page of the disk for each, twice a second.
 * What a process leaves behind when it ends, others bring.
 */
export class Journal {
  private readonly appendTo: Statement;
  private readonly dropFrom: Statement;
  private readonly dropOne: Statement;
  private readonly page: Statement<Entry>;
  private readonly leftBehind: Statement<Entry>;

  /**
   * @param table with the columns of `JournalEntry`
   * @param bring writes the rows that a JSON array of counts tells of; what it is told twice, or late, changes nothing
   */
  constructor(
    private readonly engine: Engine,
    table: string,
    private readonly bring: Statement,
  ) {
    const entries = `SELECT writer, sequence, counts FROM ${table}`;
    const inOrder = `ORDER BY writer, sequence LIMIT ${ENTRIES_AT_ONCE}`;
    this.appendTo = new Statement(
      `${table}.append`,
      ({ nowMs }) => `INSERT INTO ${table} (writer, sequence, counts, saved_at)
        VALUES ($1, $2, $3, ${nowMs}) ON CONFLICT (writer, sequence) DO NOTHING`,
    );
    this.dropFrom = new Statement(
      `${table}.drop`,
      () => `DELETE FROM ${table} WHERE writer = $1 AND sequence <= $2`,
    );
    this.dropOne = new Statement(
      `${table}.drop-one`,
      () => `DELETE FROM ${table} WHERE writer = $1 AND sequence = $2`,
    );
    this.page = new Statement(
      `${table}.page`,
      () => `${entries} WHERE (writer, sequence) > ($1, $2) ${inOrder}`,
    );
    this.leftBehind = new Statement(
      `${table}.left-behind`,
      ({ nowMs }) => `${entries} WHERE saved_at < ${nowMs} - ${DEAD_MS} ${inOrder}`,
    );
  }

  async append(writer: string, sequence: number, counts: readonly Count[]): Promise<void> {
    const text = JSON.stringify(counts);
    await this.engine.write(() => run(this.appendTo, writer, sequence, text));
  }

  /** Brings counts to their rows. */
  async save(counts: readonly Count[]): Promise<void> {
    const text = JSON.stringify(counts);
    await this.engine.write(() => run(this.bring, text));
  }

  /** Forgets what a process has written down up to there: its rows say it. */
  async drop(writer: string, sequence: number): Promise<void> {
    await this.engine.write(() => run(this.dropFrom, writer, sequence));
  }

  /** What was counted, an entry at a time. */
  async *entries(): AsyncGenerator<Count[]> {
    let last = { writer: '', sequence: 0 };
    for (let isOver = false; !isOver;) {
      const page = await this.engine.query(this.page, last.writer, last.sequence);
      for (const { writer, sequence, counts } of page) {
        last = { writer, sequence: Number(sequence) };
        yield JSON.parse(counts) as Count[];
      }
      isOver = page.length < ENTRIES_AT_ONCE;
    }
  }

  /**
   * Brings to their rows what ended processes have left.
   * @param stop ends it after what is under way
   */
  async adopt(stop: AbortSignal): Promise<void> {
    for (let isOver = false; !isOver;) {
      const entries = await this.engine.query(this.leftBehind);
      for (const entry of entries) if (!(await this.adoptOne(entry, stop))) return;
      isOver = entries.length < ENTRIES_AT_ONCE;
    }
  }

  /** Resolves to whether it was not stopped. */
  private async adoptOne(entry: Entry, stop: AbortSignal): Promise<boolean> {
    const { writer, sequence } = entry;
    const counts = JSON.parse(entry.counts) as Count[];
    const isBrought = await eachInOrder(
      Uint32Array.from(counts.keys()),
      (at) => counts[at]![0],
      (part) => this.save(part.map((at) => counts[at]!)),
      stop,
    );
    // This one alone: by a clock that was set back, an earlier one may not be left behind yet.
    if (isBrought) {
      await this.engine.write(() => run(this.dropOne, writer, Number(sequence)));
    }
    return isBrought;
  }
}
