import { createError, PetStoreConnectionError, type PetStoreError } from './errors.js';
import type { RateLimitReading } from './rate-limit.js';
import { withJitter } from './retry.js';
import type { Runtime } from './runtime.js';

/** The end of one window, computed from two responses, differs by rounding and latency. */
const TOLERANCE_MS = 2_000;

/** Responses whose rate-limit headers may describe the quota of the address instead of the key. */
const ADDRESS_STATUSES = new Set([401, 503]);

interface Window {
  remaining: number;
  endsAt: number;
}

interface Waiter {
  admit: () => void;
  reject: (reason: Error) => void;
}

/**
 * Holds requests back while the responses show that the quota has no room for them.
 *
 * There are never more requests in flight than the window has remaining. While the window is
 * unknown (at the start, and after each window ends), one request is sent first and all others wait
 * for its response. Requests fail immediately while the key is banned. A service without rate-limit
 * headers is not limited.
 */
export class QuotaGate {
  private window: Window | undefined;
  private ban: { until: number; error: PetStoreError } | undefined;
  /** Whether the service sends rate-limit headers. Undefined before the first response. */
  private hasQuota: boolean | undefined;
  private inFlight = 0;
  private readonly waiting = new Set<Waiter>();
  private cancelTimer: (() => void) | undefined;

  constructor(private readonly runtime: Runtime) {}

  /**
   * Waits until a request may be sent. The caller must then call `leave` once.
   *
   * @throws {RateLimitError} while the key is banned
   * @throws {PetStoreConnectionError} if the request that it waits for gets no response
   */
  async enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const ban = this.currentBan();
    if (ban !== undefined) throw ban;
    if (this.waiting.size > 0 || !this.hasRoom()) return this.wait(signal);
    this.inFlight++;
  }

  /** @param error the reason if the request failed */
  leave(error?: unknown): void {
    this.inFlight--;
    // Without this, waiting requests would time out one after another while the service does not
    // respond.
    if (error instanceof PetStoreConnectionError && this.currentWindow() === undefined) {
      this.rejectWaiting(error);
    }
    this.admitWaiting();
  }

  /**
   * Updates the window from a response.
   *
   * @param sentAt time of the request by the runtime's clock
   */
  update(
    reading: RateLimitReading | undefined,
    error: PetStoreError | undefined,
    sentAt: number,
  ): void {
    if (error?.code === 'key_banned') return this.startBan(error);
    if (error !== undefined && ADDRESS_STATUSES.has(error.status)) return;
    if (reading === undefined) {
      // An error response without headers may come from a proxy.
      if (error === undefined) this.hasQuota ??= false;
      return;
    }
    this.hasQuota = true;
    const now = this.runtime.now();
    const { minute, day } = reading.state;
    const remaining = Math.min(minute.remaining, day.remaining);
    const ms = 1000 * (day.remaining === 0 ? reading.daySeconds : reading.minuteSeconds);
    let endsAt = now + ms;
    const known = this.currentWindow();
    if (known !== undefined) {
      if (endsAt < known.endsAt - TOLERANCE_MS) return;
      // A slow response of the same window would otherwise look like one of the next window.
      if (sentAt + ms <= known.endsAt + TOLERANCE_MS) {
        if (known.remaining <= remaining) return;
        endsAt = Math.min(endsAt, known.endsAt);
      }
    }
    if (remaining === 0) endsAt = now + withJitter(endsAt - now, this.runtime.random);
    this.window = { remaining, endsAt };
  }

  /**
   * Replaces the state with that of a usage response, which is exact even if the plan changed or a
   * ban ended.
   */
  replace(reading: RateLimitReading | undefined, ban: PetStoreError | undefined): void {
    this.window = undefined;
    this.ban = undefined;
    this.update(reading, ban, this.runtime.now());
    this.admitWaiting();
  }

  private startBan(error: PetStoreError): void {
    const seconds = error.retryAfterSeconds ?? 0;
    this.ban = { until: this.runtime.now() + seconds * 1000, error };
    this.rejectWaiting(error);
  }

  private currentBan(): PetStoreError | undefined {
    if (this.ban === undefined) return undefined;
    const { until, error } = this.ban;
    const leftMs = until - this.runtime.now();
    if (leftMs > 0)
      return createError({ ...error.toJSON(), retryAfterSeconds: Math.ceil(leftMs / 1000) });
    this.ban = undefined;
    return undefined;
  }

  private currentWindow(): Window | undefined {
    if (this.window !== undefined && this.runtime.now() >= this.window.endsAt) {
      this.window = undefined;
    }
    return this.window;
  }

  private hasRoom(): boolean {
    if (this.hasQuota === false) return true;
    return this.inFlight < (this.currentWindow()?.remaining ?? 1);
  }

  private wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.waiting.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        admit: () => {
          settle();
          this.inFlight++;
          resolve();
        },
        reject: (reason) => {
          settle();
          reject(reason);
        },
      };
      const onAbort = (): void => {
        waiter.reject(signal?.reason as Error);
        this.admitWaiting();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiting.add(waiter);
      this.admitWaiting();
    });
  }

  private rejectWaiting(reason: Error): void {
    for (const { reject } of this.waiting) reject(reason);
  }

  /**
   * Admits waiting requests in order, and sets a timer for the end of the window if the quota is
   * used up.
   */
  private admitWaiting(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    for (const { admit } of this.waiting) {
      if (!this.hasRoom()) break;
      admit();
    }
    const window = this.currentWindow();
    if (this.waiting.size === 0 || window === undefined || window.remaining > 0) return;
    const delayMs = window.endsAt - this.runtime.now();
    this.cancelTimer = this.runtime.after(delayMs, () => this.admitWaiting());
  }
}
