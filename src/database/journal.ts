import type { Engine } from './engine.js';
import { run, Statement } from './statement.js';

/** Who has been silent for so long has ended, and left its entries to others. */
const DEAD_MS = 300_000;
const ENTRIES_AT_ONCE = 20;

interface Entry {
  writer: string;
  sequence: number | string;
  counts: string;
}

/**
 * A table of what processes have counted and not yet brought to the rows that tell of it. An entry is all that has
 * changed since the one before, as a JSON array: a row for each would be a page of the disk for each, twice a second.
 * What a process leaves behind when it ends, others bring.
 */
export class Journal {
  private readonly appendTo: Statement;
  private readonly dropFrom: Statement;
  private readonly page: Statement<Entry>;
  private readonly leftBehind: Statement<Entry>;

  /**
   * @param table with the columns of `JournalEntry`
   * @param bring writes the rows that an entry tells of; whatever it is told twice, or late, changes nothing
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
    this.page = new Statement(
      `${table}.page`,
      () => `${entries} WHERE (writer, sequence) > ($1, $2) ${inOrder}`,
    );
    this.leftBehind = new Statement(
      `${table}.left-behind`,
      ({ nowMs }) => `${entries} WHERE saved_at < ${nowMs} - ${DEAD_MS} ${inOrder}`,
    );
  }

  async append(writer: string, sequence: number, counts: string): Promise<void> {
    await this.engine.write(() => run(this.appendTo, writer, sequence, counts));
  }

  /** Forgets what a process has written down up to there: its rows say it. */
  async drop(writer: string, sequence: number): Promise<void> {
    await this.engine.write(() => run(this.dropFrom, writer, sequence));
  }

  /** What was counted, of all entries. */
  async *entries(): AsyncGenerator<string> {
    let last = { writer: '', sequence: 0 };
    for (let isOver = false; !isOver;) {
      const page = await this.engine.query(this.page, last.writer, last.sequence);
      for (const { writer, sequence, counts } of page) {
        last = { writer, sequence: Number(sequence) };
        yield counts;
      }
      isOver = page.length < ENTRIES_AT_ONCE;
    }
  }

  /** Brings to their rows what ended processes have left. */
  async adopt(): Promise<void> {
    const { bring, dropFrom } = this;
    for (;;) {
      const entries = await this.engine.query(this.leftBehind);
      for (const { writer, sequence, counts } of entries) {
        await this.engine.write(function* () {
          yield* run(bring, counts);
          yield* run(dropFrom, writer, Number(sequence));
        });
      }
      if (entries.length < ENTRIES_AT_ONCE) return;
    }
  }
}
