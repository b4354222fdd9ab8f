import { grown } from '../rate-limits/names.js';
import { type NameHolder, RowQueue, type SharedNames } from '../rate-limits/shared-names.js';
import type { UsageCount } from './usage-ledger.js';

interface Outcome {
  status: number;
  /** Of a refusal; else empty. */
  code: string;
}

/** As the database keeps one. */
const LONGEST_ID = 64;
const FIRST_ROWS = 1_024;
const [CLIENT, USED, OUTCOME, NEXT, COLUMNS] = [0, 1, 2, 3, 4];

/**
 * What clients have used within an hour, in rows of integers: there may be a million, and a row takes 16 bytes
 * where an object would take 90. A client has a row for each outcome, chained by what `NEXT` says plus one, for they are few.
 */
export class HourCounts implements NameHolder {
  /** Rows that wait for the journal. */
  readonly unsaved = new RowQueue();
  /** How many there are. */
  clientCount = 0;
  /** By the number of a client's name, the row that was made last, plus one. */
  private lastRows = new Uint32Array(FIRST_ROWS);
  private rowCount = 0;
  private readonly outcomes: Outcome[] = [];
  private readonly outcomeNumbers = new Map<string, number>();
  private cells = new Uint32Array(FIRST_ROWS * COLUMNS);
  /** Of each row, whether it waits for its hour: of a million, a list would be twenty times as large. */
  private marks = new Uint8Array(FIRST_ROWS);
  private markedCount = 0;

  /** @param hour since the epoch */
  constructor(
    readonly hour: number,
    private readonly writer: string,
    private readonly names: SharedNames,
  ) {
    names.addHolder(this);
  }

  /** Of a client, the row of a refusal with this code; without one, that of the status. */
  find(clientId: string, status: number, code: string | undefined): number | undefined {
    for (let row = this.lastRowOf(clientId); row >= 0; row = this.rowBefore(row)) {
      const outcome = this.outcomeOf(row);
      if (code === undefined ? isAnswer(outcome, status) : outcome.code === code) return row;
    }
    return undefined;
  }

  outcomeCountOf(clientId: string): number {
    let count = 0;
    for (let row = this.lastRowOf(clientId); row >= 0; row = this.rowBefore(row)) count++;
    return count;
  }

  add(clientId: string, status: number, code: string): number {
    const row = this.rowCount++;
    if (row === this.marks.length) {
      this.marks = grown(this.marks, row + 1);
      this.cells = grown(this.cells, this.marks.length * COLUMNS);
    }
    const client = this.names.add(clientId);
    if (client >= this.lastRows.length) this.lastRows = grown(this.lastRows, client + 1);
    const lastRow = this.lastRows[client]!;
    if (lastRow === 0) this.clientCount++;
    this.lastRows[client] = row + 1;
    const at = row * COLUMNS;
    this.cells[at + CLIENT] = client;
    this.cells[at + OUTCOME] = this.numberOf(status, code);
    this.cells[at + NEXT] = lastRow;
    return row;
  }

  countUp(row: number): void {
    this.cells[row * COLUMNS + USED]!++;
  }

  /** Whether nothing waits, for the journal or for its hour. */
  get isDone(): boolean {
    return this.unsaved.size === 0 && this.markedCount === 0;
  }

  /** These rows wait for their hour. */
  markUnbrought(rows: readonly number[]): void {
    for (const row of rows) {
      this.markedCount += 1 - this.marks[row]!;
      this.marks[row] = 1;
    }
  }

  unmark(rows: readonly number[]): void {
    for (const row of rows) {
      this.markedCount -= this.marks[row]!;
      this.marks[row] = 0;
    }
  }

  /** Rows that wait for their hour. */
  unbrought(): Uint32Array {
    const rows = new Uint32Array(this.markedCount);
    let count = 0;
    for (let row = 0; row < this.rowCount; row++) if (this.marks[row] === 1) rows[count++] = row;
    return rows;
  }

  markHeld(marks: Uint8Array): void {
    for (let row = 0; row < this.rowCount; row++) marks[this.cells[row * COLUMNS + CLIENT]!] = 1;
  }

  /** What a row says at this moment. */
  at(row: number): UsageCount {
    const { hour, writer } = this;
    const { status, code } = this.outcomeOf(row);
    const clientId = this.clientIdOf(row);
    return { clientId, hour, writer, status, code, used: this.cells[row * COLUMNS + USED]! };
  }

  clientIdOf(row: number): string {
    return toSavedId(this.names.nameOf(this.cells[row * COLUMNS + CLIENT]!));
  }

  /** None is -1. */
  private lastRowOf(clientId: string): number {
    const client = this.names.find(clientId);
    return client !== undefined && client < this.lastRows.length ? this.lastRows[client]! - 1 : -1;
  }

  private rowBefore(row: number): number {
    return this.cells[row * COLUMNS + NEXT]! - 1;
  }

  private outcomeOf(row: number): Outcome {
    return this.outcomes[this.cells[row * COLUMNS + OUTCOME]!]!;
  }

  private numberOf(status: number, code: string): number {
    const name = `${status} ${code}`;
    let number = this.outcomeNumbers.get(name);
    if (number === undefined) {
      number = this.outcomes.push({ status, code }) - 1;
      this.outcomeNumbers.set(name, number);
    }
    return number;
  }
}

function isAnswer({ status: known, code }: Outcome, status: number): boolean {
  return code === '' && known === status;
}

export function toSavedId(clientId: string): string {
  return clientId.slice(0, LONGEST_ID);
}
