import { Injectable } from '@nestjs/common';
import { isoTime } from '../keys/audit-record.entity.js';
import { Clock } from '../time/clock.js';
import { HOUR_MS } from '../time/windows.js';
import { KEPT_MS, type UsageHour } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

/** Groups of rejected requests that are shown of each client. */
export const LATEST_REFUSALS = 10;

const HOURS = 24;

export type UseReport = Awaited<ReturnType<UsageReport['of']>>;

/** Reports the recorded usage of a client, up to some ten seconds ago. */
@Injectable()
export class UsageReport {
  constructor(
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * The outcomes of the last 24 hours, the current one included, the most frequent first; and the
   * latest rejected requests, the latest first. Times are ISO 8601.
   */
  async of(clientId: string) {
    const { used, refusals } = await this.load(clientId, HOURS);
    return {
      outcomes: outcomesOf(used),
      refusals: refusals.slice(0, LATEST_REFUSALS).map(({ at, firstAt, ...refusal }) => {
        return { at: isoTime(at)!, firstAt: isoTime(firstAt)!, ...refusal };
      }),
    };
  }

  /** @param hours number of hours, the current one included */
  async load(clientId: string, hours: number) {
    const nowMs = this.clock.now();
    const thisHour = Math.floor(nowMs / HOUR_MS);
    const numbers = Array.from({ length: hours }, (_, index) => thisHour - index);
    return {
      used: await this.repository.find(clientId, numbers),
      refusals: await this.repository.findRefusals(clientId, nowMs - KEPT_MS),
    };
  }
}

/** The code is that of the error, null if there was none. */
function outcomesOf(used: readonly UsageHour[]) {
  const reports = new Map<string, { code: string | null; status: number; requests: number }>();
  for (const { status, code, used: requests } of used) {
    const name = `${status} ${code}`;
    const report = reports.get(name) ?? { code: code || null, status, requests: 0 };
    reports.set(name, report);
    report.requests += requests;
  }
  return [...reports.values()].sort((one, other) => other.requests - one.requests);
}
