import type { Outcome } from './node.js';
import { LIMITS } from './servers.js';

/** Checks every response against the promises. */
export class Auditor {
  readonly faults: string[] = [];
  private readonly admitted = new Map<string, number>();
  /** The highest count that Redis has reported, by window and node. */
  private readonly reported = new Map<string, number>();

  /**
   * Redis admits no more than the limit. A node alone continues from what Redis last reported, and
   * admits no more than the limit. A node admits nothing before the end of a ban that it knew.
   */
  check({ node, key, bannedUntilMs, status, epoch, decision }: Outcome): void {
    if (decision === undefined) return;
    const earlyMs = bannedUntilMs - decision.nowMs;
    if (status === 200 && earlyMs > 0) {
      this.faults.push(`ban: ${node.name} admits ${key} ${earlyMs} ms early`);
    }
    for (const name of ['minute', 'day'] as const) {
      const used = decision[`${name}Used` as const];
      const window = `${key}, ${name} ${decision[name]}`;
      const alone = `${window}, ${node.name}`;
      const reported = this.reported.get(alone) ?? 0;
      if (epoch !== undefined) this.reported.set(alone, Math.max(reported, used));
      if (status !== 200) continue;
      const counter = epoch === undefined ? alone : `${window}, epoch ${epoch} of Redis`;
      const count = (this.admitted.get(counter) ?? 0) + 1;
      this.admitted.set(counter, count);
      if (count > LIMITS[name]) this.faults.push(`limit: ${count} admitted (${counter})`);
      if (epoch !== undefined || used > reported) continue;
      this.faults.push(`limit: counts ${used}, Redis had reported ${reported} (${alone})`);
    }
  }
}
