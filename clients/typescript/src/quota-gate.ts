import { PetStoreError, PetStoreTimeoutError } from './errors.js';
import type { RateLimitReading, RateLimitState } from './rate-limit.js';
import { withJitter } from './retry.js';
import type { Runtime } from './runtime.js';

/** Two tellings of one window's end differ by rounding and by how long the answers took. */
const SAME_WINDOW_MS = 2_000;
/** One answer that does not come must not hold up all others: so long, and twice as long as answers take. */
const SHORTEST_PATIENCE_MS = 250;
const LONGEST_PATIENCE_MS = 10_000;
/** How fast a slow answer is forgotten. */
const FADING = 0.5;
/** The part of its share that a client takes at once where others have the same key. */
const CAUTION = 0.1;

/** Who asks is not known then, and the quota may be that of the address. */
const OF_THE_ADDRESS = new Set([401, 503]);

interface Window {
  minuteLimit: number;
  dayLimit: number;
  /** The fewest that an answer has left. */
  left: number;
  /** How many of the minute all callers of the key have used. */
  used: number;
  /** How many of those were answers to this client. */
  answered: number;
  endsAt: number;
}

/**
 * Lets requests leave while the quota has room for them, as far as the answers tell.
 *
 * Of what is left a client takes its share: as large as its part in what was used, since others may have
 * the same key. It finds out in rounds, each of them at most twice the one before; a window of which
 * nothing is known yet begins with one request. So a crowd on one key meets few refusals, and none of
 * them is banned. Where no answer has ever told of a quota, nothing is held back.
 */
export class QuotaGate {
  private window: Window | undefined;
  private ban: { until: number; error: PetStoreError } | undefined;
  /** Whether the service answers and tells of no quota; undefined until an answer decides it. */
  private isBlind: boolean | undefined;
  private inFlight = 0;
  /** How long answers take: the slowest of late. */
  private answersTakeMs = 0;
  /** How many left for want of an answer since the last one came. */
  private impatient = 0;
  /** When the last answer came, or the time ended in which none was asked for. */
  private silentSince = -Infinity;
  private readonly waiting: (() => void)[] = [];
  private cancelTimer: (() => void) | undefined;

  constructor(private readonly runtime: Runtime) {}

  /**
   * Resolves when a request may leave; `leave` must follow. Rejects at once while the key is banned.
   * @param timeoutMs the longest silence of the service to wait through; the wait for a quota is none
   * @returns how much of that has passed
   */
  async pass(signal: AbortSignal | undefined, timeoutMs: number): Promise<number> {
    signal?.throwIfAborted();
    this.refuseBanned();
    if (this.waiting.length === 0 && this.inFlight < this.room()) {
      this.inFlight++;
      return 0;
    }
    const silentMs = await this.wait(signal, timeoutMs);
    try {
      this.refuseBanned();
    } catch (error) {
      this.leave();
      throw error;
    }
    return silentMs;
  }

  /**
   * A request has ended, well or not.
   * @param tookMs from when it left to its answer, if it had one
   */
  leave(tookMs?: number): void {
    this.inFlight--;
    if (tookMs !== undefined) {
      this.answersTakeMs = Math.max(tookMs, this.answersTakeMs * FADING);
      this.impatient = 0;
      this.silentSince = this.runtime.now();
    }
    this.admitWaiting();
  }

  learn(reading: RateLimitReading | undefined, refusal: PetStoreError | undefined): void {
    const now = this.runtime.now();
    const waitSeconds = refusal?.status === 429 ? refusal.retryAfterSeconds : undefined;
    if (refusal?.code === 'key_banned') {
      this.ban = { until: now + (waitSeconds ?? 0) * 1000, error: refusal };
      return;
    }
    if (refusal !== undefined && OF_THE_ADDRESS.has(refusal.status)) return;
    if (reading === undefined) {
      // A failure may be a proxy's, and takes nothing back of what the service has told.
      if (refusal === undefined) this.isBlind ??= true;
      return;
    }
    this.isBlind = false;
    const { minute, day } = reading.state;
    const left = Math.min(minute.remaining, day.remaining);
    const used = minute.limit - minute.remaining;
    const told = day.remaining === 0 ? reading.daySeconds : reading.minuteSeconds;
    const seconds = left === 0 ? (waitSeconds ?? told) : told;
    const endsAt = now + seconds * 1000;
    const known = this.current(now);
    if (known !== undefined && isOfWindow(known, reading.state)) {
      if (left > 0 && endsAt < known.endsAt - SAME_WINDOW_MS) return;
      if (left === 0 || endsAt <= known.endsAt + SAME_WINDOW_MS) {
        known.answered++;
        known.used = Math.max(known.used, used);
        if (left === 0 && known.left > 0) this.close(known, endsAt, now);
        known.left = Math.min(known.left, left);
        return;
      }
    }
    const limits = { minuteLimit: minute.limit, dayLimit: day.limit };
    this.window = { ...limits, left, used, answered: 1, endsAt };
    if (left === 0) this.close(this.window, endsAt, now);
  }

  /** From what is told even to who waits or is banned: so those that wait are told as well. */
  learnUsage(reading: RateLimitReading | undefined, ban: PetStoreError | undefined): void {
    if (ban === undefined) this.forgetBan();
    this.learn(reading, ban);
    this.admitWaiting();
  }

  /** Until a little after its end, so that not all callers come back at once. */
  private close(window: Window, endsAt: number, now: number): void {
    window.endsAt = now + withJitter(endsAt - now, this.runtime.random);
  }

  /** An operator has ended the ban: what was known before it may be no longer so. */
  private forgetBan(): void {
    if (this.ban === undefined) return;
    this.ban = undefined;
    this.window = undefined;
  }

  private refuseBanned(): void {
    if (this.ban === undefined) return;
    const { until, error } = this.ban;
    const leftMs = until - this.runtime.now();
    if (leftMs <= 0) this.ban = undefined;
    else
      throw new PetStoreError({ ...failureOf(error), retryAfterSeconds: Math.ceil(leftMs / 1000) });
  }

  /** What is known of the window that is open now. */
  private current(now: number): Window | undefined {
    const { window } = this;
    if (window === undefined) return undefined;
    if (now >= window.endsAt) {
      if (window.left === 0) this.silentSince = Math.max(this.silentSince, window.endsAt);
      this.window = undefined;
    }
    return this.window;
  }

  /** How many may be under way. */
  private room(): number {
    if (this.isBlind) return Infinity;
    const window = this.current(this.runtime.now());
    if (window === undefined) return 1;
    const { left, used, answered } = window;
    // What others have under way is not counted yet in what is left.
    const share = answered < used ? ((left * answered) / used) * CAUTION : left;
    return Math.min(left, Math.max(1, Math.min(Math.floor(share), answered + 1)));
  }

  private wait(signal: AbortSignal | undefined, timeoutMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const since = this.runtime.now();
      let cancel: (() => void) | undefined;
      const end = (): void => {
        cancel?.();
        signal?.removeEventListener('abort', abort);
      };
      const admit = (): void => {
        end();
        this.inFlight++;
        resolve(Math.max(0, this.silentMs(since)));
      };
      const giveUp = (reason: Error): void => {
        end();
        this.waiting.splice(this.waiting.indexOf(admit), 1);
        if (this.waiting.length === 0) this.stopTimer();
        reject(reason);
      };
      const abort = (): void => giveUp(signal?.reason as Error);
      const bound = (): void => {
        const leftMs = timeoutMs - this.silentMs(since);
        if (leftMs <= 0) giveUp(new PetStoreTimeoutError(timeoutMs));
        else cancel = this.runtime.after(leftMs, bound);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.waiting.push(admit);
      this.startTimer();
      bound();
    });
  }

  /** For how long who waits since then has waited for a word; below 0 while there is nothing to ask for. */
  private silentMs(since: number): number {
    const now = this.runtime.now();
    const window = this.current(now);
    const closedUntil = window?.left === 0 ? window.endsAt : -Infinity;
    return now - Math.max(since, this.silentSince, closedUntil);
  }

  private admitWaiting(): void {
    const isBanned = this.ban !== undefined;
    while (this.waiting.length > 0 && (isBanned || this.inFlight < this.room())) {
      this.waiting.shift()!();
    }
    this.stopTimer();
    if (this.waiting.length > 0) this.startTimer();
  }

  private startTimer(): void {
    if (this.cancelTimer !== undefined) return;
    const now = this.runtime.now();
    const window = this.current(now);
    const isClosed = window?.left === 0;
    this.cancelTimer = this.runtime.after(isClosed ? window.endsAt - now : this.patience(), () => {
      this.cancelTimer = undefined;
      const left = this.current(this.runtime.now())?.left ?? Infinity;
      if (!isClosed && this.inFlight < left) {
        this.impatient++;
        this.waiting.shift()?.();
      }
      this.admitWaiting();
    });
  }

  /** Longer each time: a crowd that sends more to a slow server only because it is slow is banned. */
  private patience(): number {
    const usual = Math.max(SHORTEST_PATIENCE_MS, 2 * this.answersTakeMs);
    return Math.min(LONGEST_PATIENCE_MS, usual * 2 ** this.impatient);
  }

  private stopTimer(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
  }
}

/** Another plan is another quota, whatever the window. */
function isOfWindow(window: Window, { minute, day }: RateLimitState): boolean {
  return window.minuteLimit === minute.limit && window.dayLimit === day.limit;
}

function failureOf({ code, message, status, requestId, retryAfterSeconds }: PetStoreError) {
  return { code, message, status, requestId, retryAfterSeconds };
}
