import {
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { inBatches } from '../database/in-batches.js';
import type { ApiRequest } from '../http/request-context.js';
import { mintId } from '../keys/api-key-format.js';
import { Logger } from '../telemetry/logger.js';
import { Clock } from '../time/clock.js';
import { DAY_MS, HOUR_MS } from '../time/windows.js';
import { type LatestRefusals, type Refusal, type UsageCount, UsageLedger } from './usage-ledger.js';

/** A `kill -9` may forget the last second: half of it, and the time that saving takes. */
const SAVE_INTERVAL_MS = 500;
const BRING_INTERVAL_MS = 60_000;
const AT_ONCE = 5_000;
const KEPT_DAYS = 90;
/** What cannot be saved while the database is away; what comes then is not counted. */
const MOST_UNSAVED = 200_000;
const MOST_REFUSED = 10_000;
/** Each is a row of its own: so many clients' are saved each time, those that wait longest first. */
const REFUSED_AT_ONCE = 100;
const LATEST = 10;
/** A guest's codes are its own: of more than so many, the rest is told as one. */
const MOST_OUTCOMES = 64;
const CODE = /^[\w.:-]{1,64}$/;
const OTHER = 'other';
/** As the database keeps one. */
const LONGEST_ID = 64;

interface Count extends UsageCount {
  /** Whether it waits for the journal, or for its hour. */
  isUnsaved: boolean;
  isUnbrought: boolean;
  /** Of the same client: there are few, and a map for each client would take more than they do. */
  next: Count | undefined;
}

/**
 * Counts what clients use, by hour and outcome, and keeps why they were refused of late.
 *
 * A process saves what it has counted itself, as totals of the hour: whatever is saved twice, or late,
 * changes nothing, and nodes are added up by who asks. Twice a second the totals that changed go to a
 * journal, as one row: a row for each client would cost some microseconds a request. Once a minute they are
 * brought to their hours, and the journal is emptied. What a process leaves there when it ends, others bring.
 */
@Injectable()
export class UsageHistory implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /**
   * So many that this process remembers, at some 150 bytes each. Whoever comes then is counted anew, under
   * another name of it, in rows of its own: were they few, every request could become a row.
   */
  mostClients = 1_000_000;
  private writer = mintId('use');
  private journal = this.writer;
  private sequence = 0;
  private hour = 0;
  private clients = new Map<string, Count>();
  private unsaved: Count[] = [];
  private unbrought: Count[] = [];
  private readonly refused = new Map<string, LatestRefusals & { refusals: Refusal[] }>();
  private readonly unsavedRefused = new Set<string>();
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
  ) {}

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
    await this.bringing;
    await this.saving;
    await this.save();
    if (this.unbrought.length <= AT_ONCE) await this.bring();
  }

  /** Counts one answered request. */
  record(request: ApiRequest, status: number): void {
    const { caller = request.formerCaller, refusal, operation } = request;
    if (caller === undefined) return;
    const nowMs = this.clock.now();
    const hour = Math.floor(nowMs / HOUR_MS);
    if (hour !== this.hour) this.begin(hour);
    // Not by what a verifier calls it: that may be any text, and that of a key.
    const clientId = caller.quota.subject;
    const counts = this.clients.get(clientId);
    const count =
      find(counts, status, refusal?.code) ?? this.first(counts, clientId, status, refusal?.code);
    count.used++;
    if (!count.isUnsaved) this.note(count);
    if (refusal !== undefined) {
      const { code, address } = refusal;
      this.remember(clientId, { at: nowMs, code, operation: operation ?? 'unknown', address });
    }
  }

  /** Writes down what has changed; one at a time. What cannot be saved is kept for the next time. */
  save(): Promise<void> {
    this.saving ??= this.saveAll().finally(() => (this.saving = undefined));
    return this.saving;
  }

  /** Brings to the hours what was saved, and forgets what is too old; one at a time. */
  bring(): Promise<void> {
    this.bringing ??= this.bringAll().finally(() => (this.bringing = undefined));
    return this.bringing;
  }

  private begin(hour: number): void {
    this.hour = hour;
    this.clients = new Map();
  }

  private first(
    counts: Count | undefined,
    clientId: string,
    status: number,
    sent: string | undefined,
  ): Count {
    const isOne = sent !== undefined && (!CODE.test(sent) || lengthOf(counts) >= MOST_OUTCOMES);
    const code = isOne ? OTHER : sent;
    const known = isOne ? find(counts, status, code) : undefined;
    if (known !== undefined) return known;
    if (counts === undefined && this.clients.size >= this.mostClients) {
      this.clients = new Map();
      this.writer = mintId('use');
    }
    // All members at once: made of a copy and more, each would have a layout of its own, as large as itself.
    const count = {
      clientId: clientId.slice(0, LONGEST_ID),
      hour: this.hour,
      writer: this.writer,
      status,
      code: code ?? '',
      used: 0,
      isUnsaved: false,
      isUnbrought: false,
      next: counts,
    };
    this.clients.set(clientId, count);
    return count;
  }

  private note(count: Count): void {
    if (this.unsaved.length >= MOST_UNSAVED) return;
    count.isUnsaved = true;
    this.unsaved.push(count);
  }

  private remember(clientId: string, refusal: Refusal): void {
    let latest = this.refused.get(clientId);
    if (latest === undefined) {
      if (this.refused.size >= MOST_REFUSED) {
        this.refused.clear();
        this.unsavedRefused.clear();
      }
      latest = { clientId: clientId.slice(0, LONGEST_ID), writer: this.journal, refusals: [] };
      this.refused.set(clientId, latest);
    }
    if (latest.refusals.push(refusal) > LATEST) latest.refusals.shift();
    this.unsavedRefused.add(clientId);
  }

  private async saveAll(): Promise<void> {
    try {
      await this.saveCounts();
      await this.saveRefusals();
      this.failing = false;
    } catch (err) {
      // Said once per outage.
      if (!this.failing) this.logger.warn({ err }, 'What clients use cannot be saved for now');
      this.failing = true;
    }
  }

  private async saveCounts(): Promise<void> {
    while (this.unsaved.length > 0) {
      const batch = this.unsaved.splice(0, AT_ONCE);
      for (const count of batch) count.isUnsaved = false;
      try {
        await this.ledger.append(this.journal, this.sequence + 1, batch);
      } catch (error) {
        for (const count of batch) if (!count.isUnsaved) this.note(count);
        // It may be there all the same: what follows must not be taken for it.
        this.sequence++;
        throw error;
      }
      this.sequence++;
      for (const count of batch) {
        if (count.isUnbrought) continue;
        count.isUnbrought = true;
        this.unbrought.push(count);
      }
    }
  }

  /** Of many clients a part: what is not saved this time has its turn, at the latest when this ends. */
  private async saveRefusals(): Promise<void> {
    const clients = [...this.unsavedRefused];
    const batch = this.stopping.signal.aborted ? clients : clients.slice(0, REFUSED_AT_ONCE);
    if (batch.length === 0) return;
    for (const client of batch) this.unsavedRefused.delete(client);
    try {
      const latest = batch.map((client) => this.refused.get(client));
      await this.ledger.saveRefusals(latest.filter((each) => each !== undefined));
    } catch (error) {
      for (const client of batch) this.unsavedRefused.add(client);
      throw error;
    }
  }

  private async bringAll(): Promise<void> {
    try {
      await this.bringUnbrought();
      if (this.stopping.signal.aborted) return;
      await this.ledger.adopt();
      await this.forget();
    } catch (err) {
      this.logger.warn({ err }, 'What clients use could not be brought to its hours; tried again');
    }
  }

  private async bringUnbrought(): Promise<void> {
    const upTo = this.sequence;
    const counts = this.unbrought;
    this.unbrought = [];
    let brought = 0;
    try {
      await inBatches(async (rows) => {
        const batch = counts.slice(brought, brought + rows);
        for (const count of batch) count.isUnbrought = false;
        if (batch.length > 0) await this.ledger.save(batch);
        brought += batch.length;
        return batch.length;
      });
      if (upTo > 0) await this.ledger.drop(this.journal, upTo);
    } catch (error) {
      for (const count of counts.slice(brought)) {
        count.isUnbrought = true;
        this.unbrought.push(count);
      }
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

/** Of a client, that of a refusal with this code; without one, that of the status. */
function find(counts: Count | undefined, status: number, code: string | undefined) {
  let count = counts;
  while (count !== undefined) {
    if (code === undefined ? count.code === '' && count.status === status : count.code === code) {
      return count;
    }
    count = count.next;
  }
  return undefined;
}

function lengthOf(counts: Count | undefined): number {
  let length = 0;
  for (let count = counts; count !== undefined; count = count.next) length++;
  return length;
}
