import { secondsUntil } from '../../src/time/windows.js';
import type { Decided, Outcome, SimulatedNode } from './node.js';

const REVOKED_WITHIN_MS = 1_000;

/** Checks every response against the promises. */
export class Auditor {
  readonly faults: string[] = [];
  private readonly counts = new Map<string, number>();
  /** The highest count that Redis has reported to a node, by window. */
  private readonly known = new Map<string, number>();
  /** Ends of the bans that a node knows, in Unix milliseconds. */
  private readonly bans = new Map<SimulatedNode, number>();

  constructor(private readonly limits: { perMinute: number; perDay: number }) {}

  /**
   * Redis admits no more than the limit; a node alone continues from what Redis last reported, and
   * admits no more than the limit.
   */
  limit(node: SimulatedNode, { status, epoch, decision }: Outcome): void {
    if (decision === undefined) return;
    const { minute, minuteUsed, day, dayUsed } = decision;
    const windows = [
      [`minute ${minute}`, minuteUsed, this.limits.perMinute],
      [`day ${day}`, dayUsed, this.limits.perDay],
    ] as const;
    for (const [window, used, limit] of windows) {
      const place = `${window}, ${epoch === undefined ? node.name : `Redis, epoch ${epoch}`}`;
      const key = `${window}, ${node.name}`;
      if (epoch !== undefined) this.known.set(key, Math.max(this.known.get(key) ?? 0, used));
      if (status !== 200) continue;
      const count = (this.counts.get(place) ?? 0) + 1;
      this.counts.set(place, count);
      if (count > limit) this.fault(`limit: ${count} of ${limit} requests admitted (${place})`);
      const known = this.known.get(key) ?? 0;
      if (epoch === undefined && used <= known) {
        this.fault(`limit: ${node.name} counts ${used}, Redis had reported ${known} (${window})`);
      }
    }
  }

  /** The end of the ban that a node knows, in Unix milliseconds. */
  knownBan(node: SimulatedNode): number {
    return this.bans.get(node) ?? 0;
  }

  /**
   * A node admits nothing before the end of the ban that it knew when the request arrived, whoever
   * counts.
   */
  ban(node: SimulatedNode, { status, decision }: Outcome, until: number): void {
    if (decision === undefined) return;
    if (decision.newBan !== undefined) this.bans.set(node, decision.newBan.until);
    if (status !== 200 || decision.nowMs >= until) return;
    this.fault(
      `ban: ${node.name} admits a request ${secondsUntil(until / 1_000, decision.nowMs)} s early`,
    );
  }

  /** A caller that waited for `Retry-After` is admitted, if the same counter decides again. */
  retryAfter(promised: Decided, { status, epoch, retryAfterSeconds }: Outcome): void {
    if (status !== 429 || epoch !== promised.epoch) return;
    this.fault(`Retry-After: 429 after the whole wait, and again ${retryAfterSeconds} s`);
  }

  /** @param reachedForMs how long the node has reached the database since the key was revoked */
  revocation(node: SimulatedNode, { status }: Outcome, reachedForMs: number): void {
    if (status === 401 || status === 503 || reachedForMs <= REVOKED_WITHIN_MS) return;
    this.fault(`revocation: ${node.name} responds with ${status}, ${reachedForMs} ms too late`);
  }

  /** A pause of Redis of up to 300 ms is no outage. */
  pause(node: SimulatedNode): void {
    if (node.store.mode === 'shared') return;
    this.fault(`pause: ${node.name} counts alone after a short pause of Redis`);
  }

  private fault(text: string): void {
    this.faults.push(text);
  }
}
