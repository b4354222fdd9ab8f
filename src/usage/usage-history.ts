import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { inBatches } from '../database/in-batches.js';
import { eachInOrder } from '../database/in-order.js';
import type { ApiRequest } from '../http/request-context.js';
import { mintId } from '../keys/api-key-format.js';
import { grown, type NameHolder, RowQueue, SharedNames } from '../rate-limits/names.js';
import { Logger } from '../telemetry/logger.js';
import { Clock } from '../time/clock.js';
import { DAY_MS, HOUR_MS } from '../time/windows.js';
import { LatestRefusals } from './latest-refusals.js';
import { toSavedId, type UsageCount, UsageLedger } from './usage-ledger.js';

interface Outcome {
  status: number;
  /** Of a refusal; else empty. */
  code: string;
}

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

/** A `kill -9` may forget the last second: half of it, and the time that saving takes. */
const SAVE_INTERVAL_MS = 500;
const BRING_INTERVAL_MS = 60_000;
const AT_ONCE = 1_000;
/** What is not brought by then is left in the journal, and brought by others. */
const BRING_AT_END_MS = 1_000;
const KEPT_DAYS = 90;
/** A guest's codes are its own: of more than so many, the rest is told as one. */
const MOST_OUTCOMES = 64;
const CODE = /^[\w.:-]{1,64}$/;
const OTHER = 'other';

/**
 * Counts what clients use, by hour and outcome.
 *
 * A process saves what it has counted itself, as totals of the hour: whatever is saved twice, or late,
 * changes nothing, and nodes are added up by who asks. Twice a second the totals that changed go to a
 * journal, as one row: a row for each client would cost some microseconds a request. Once a minute they are
 * brought to their hours, and the journal is emptied. What a process leaves there when it ends, others bring.
 */
@Injectable()
export class UsageHistory implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /**
   * So many that this process remembers, at some 20 bytes each. Whoever comes then is counted anew, under
   * another name of it, in rows of its own: were they few, every request could become a row.
   */
  mostClients = 1_000_000;
  /** What cannot be saved while the database is away; what comes then is not counted. */
  mostUnsaved = 200_000;
  private writer = mintId('use');
  private journal = this.writer;
  private sequence = 0;
  private broughtUpTo = 0;
  private counts: HourCounts;
  /** These, and those before of which something waits still: `unsavedBefore` of it for the journal. */
  private readonly pending = new Set<HourCounts>();
  private unsavedBefore = 0;
  private readonly refusals: LatestRefusals;
  private timers: NodeJS.Timeout[] = [];
  private saving: Promise<void> | undefined;
  private bringing: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private failing = false;
  private tidiedDay = 0;

  constructor(
    private readonly ledger: UsageLedger,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly names: SharedNames,
  ) {
    this.counts = new HourCounts(0, this.writer, names);
    this.refusals = new LatestRefusals(ledger, this.journal);
  }

  onApplicationBootstrap(): void {
    this.timers = [
      setInterval(() => void this.save(), SAVE_INTERVAL_MS).unref(),
      setInterval(() => void this.bring(), BRING_INTERVAL_MS).unref(),
    ];
  }

  /** Before the database is closed, which is done in the next step of a shutdown. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.stopping.abort();
    await this.saving;
    await this.save();
    await this.bringing;
    if (!this.failing) await this.bringOwn(AbortSignal.timeout(BRING_AT_END_MS));
  }

  /** Counts one answered request. */
  record(request: ApiRequest, status: number): void {
    const { caller = request.formerCaller, refusal, operation } = request;
    if (caller === undefined) return;
    const nowMs = this.clock.now();
    const hour = Math.floor(nowMs / HOUR_MS);
    if (hour !== this.counts.hour) this.begin(hour);
    // Not by what a verifier calls it: that may be any text, and that of a key.
    const clientId = caller.quota.subject;
    const row =
      this.counts.find(clientId, status, refusal?.code) ??
      this.first(clientId, status, refusal?.code);
    this.counts.countUp(row);
    if (this.counts.unsaved.size < this.mostUnsaved - this.unsavedBefore)
      this.counts.unsaved.add(row);
    if (refusal !== undefined) {
      const { code, address } = refusal;
      this.refusals.remember(clientId, {
        at: nowMs,
        code,
        operation: operation ?? 'unknown',
        address,
      });
    }
  }

  /** Writes down what has changed; one at a time. What cannot be saved is kept for the next time. */
  save(): Promise<void> {
    this.saving ??= this.saveAll().finally(() => (this.saving = undefined));
    return this.saving;
  }

  /** Brings to the hours what was saved, and forgets what is too old; one at a time. */
  bring(): Promise<void> {
    this.bringing ??= this.bringAll(this.stopping.signal).finally(
      () => (this.bringing = undefined),
    );
    return this.bringing;
  }

  private begin(hour: number): void {
    // A clock was set back: what the hour has already told of is not counted in these totals.
    if (hour < this.counts.hour) this.writer = mintId('use');
    this.forgetIfDone(this.counts);
    this.counts = new HourCounts(hour, this.writer, this.names);
    this.pending.add(this.counts);
    this.measureBacklog();
  }

  private forgetIfDone(counts: HourCounts): void {
    if (counts.isDone) this.pending.delete(counts);
  }

  private measureBacklog(): void {
    let unsaved = 0;
    for (const counts of this.pending) if (counts !== this.counts) unsaved += counts.unsaved.size;
    this.unsavedBefore = unsaved;
  }

  /** The row of an outcome that the client did not have before within the hour. */
  private first(clientId: string, status: number, sent: string | undefined): number {
    const outcomes = this.counts.outcomeCountOf(clientId);
    const isOther = sent !== undefined && (!CODE.test(sent) || outcomes >= MOST_OUTCOMES);
    const code = isOther ? OTHER : sent;
    const known = isOther ? this.counts.find(clientId, status, code) : undefined;
    if (known !== undefined) return known;
    if (outcomes === 0 && this.counts.clientCount >= this.mostClients) {
      this.writer = mintId('use');
      this.begin(this.counts.hour);
    }
    return this.counts.add(clientId, status, code ?? '');
  }

  private async saveAll(): Promise<void> {
    try {
      await this.saveCounts();
      await this.refusals.save(this.stopping.signal.aborted);
      this.failing = false;
    } catch (err) {
      // Said once per outage.
      if (!this.failing) this.logger.warn({ err }, 'What clients use cannot be saved for now');
      this.failing = true;
    }
  }

  private async saveCounts(): Promise<void> {
    for (const counts of this.pending) {
      // Not what changes meanwhile: under load that would never end.
      for (let left = counts.unsaved.size; left > 0; left -= AT_ONCE) await this.saveSome(counts);
    }
  }

  private async saveSome(counts: HourCounts): Promise<void> {
    const rows = counts.unsaved.take(AT_ONCE);
    try {
      const batch = rows.map((row) => counts.at(row));
      await this.ledger.append(this.journal, this.sequence + 1, batch);
      counts.markUnbrought(rows);
    } catch (error) {
      for (const row of rows) counts.unsaved.add(row);
      throw error;
    } finally {
      // It may be there all the same: what follows must not be taken for it.
      this.sequence++;
      this.keepPending(counts);
    }
  }

  /** Meanwhile an hour may have begun, and these counts be over. */
  private keepPending(counts: HourCounts): void {
    this.pending.add(counts);
    this.measureBacklog();
  }

  private async bringAll(stop: AbortSignal): Promise<void> {
    await this.bringOwn(stop);
    try {
      await this.ledger.journal.adopt(stop);
      await this.forget();
    } catch (err) {
      this.logger.warn({ err }, 'Old use, or that of ended processes, could not be tidied');
    }
  }

  private async bringOwn(stop: AbortSignal): Promise<void> {
    const upTo = this.sequence;
    if (upTo === this.broughtUpTo) return;
    try {
      for (const counts of this.pending) {
        const areBrought = await eachInOrder(
          counts.unbrought(),
          (row) => counts.clientIdOf(row),
          (rows) => this.bringSome(counts, rows),
          stop,
        );
        if (!areBrought) return;
        if (counts !== this.counts) this.forgetIfDone(counts);
      }
      await this.ledger.journal.drop(this.journal, upTo);
      this.broughtUpTo = upTo;
    } catch (err) {
      this.logger.warn({ err }, 'What clients use could not be brought to its hours; tried again');
    }
  }

  private async bringSome(counts: HourCounts, rows: readonly number[]): Promise<void> {
    // Before they are told: what is counted meanwhile is brought the next time.
    counts.unmark(rows);
    try {
      await this.ledger.save(rows.map((row) => counts.at(row)));
    } catch (error) {
      counts.markUnbrought(rows);
      this.keepPending(counts);
      throw error;
    }
  }

  private async forget(): Promise<void> {
    const nowMs = this.clock.now();
    const today = Math.floor(nowMs / DAY_MS);
    if (today === this.tidiedDay) return;
    const since = nowMs - KEPT_DAYS * DAY_MS;
    const { signal } = this.stopping;
    const hour = Math.floor(since / HOUR_MS);
    await inBatches((rows) => this.ledger.forgetHours(hour, rows), signal);
    await inBatches((rows) => this.ledger.forgetRefusals(since, rows), signal);
    this.tidiedDay = today;
  }
}
