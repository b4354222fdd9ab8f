import { Injectable } from '@nestjs/common';
import { Clock } from '../time/clock.js';
import { HOUR_MS } from '../time/windows.js';
import type { Refusal, UsageHour } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

/** Number of rejected requests that are shown of each client. */
export const LATEST_REFUSALS = 10;

const HOURS = 24;

export interface OutcomeReport {
  /** The code of the error, null if there was none. */
  code: string | null;
  status: number;
  requests: number;
}

/** The time is ISO 8601. */
export type RefusalReport = Omit<Refusal, 'at'> & { at: string };

export interface UseReport {
  /** The outcomes of the last 24 hours, the current one included; the most frequent first. */
  outcomes: OutcomeReport[];
  /** The latest rejected requests, the latest first. */
  refusals: RefusalReport[];
}

/** Reports the recorded usage of a client, up to some ten seconds ago. */
@Injectable()
export class UsageReport {
  constructor(
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
  ) {}

  async of(clientId: string): Promise<UseReport> {
    const thisHour = Math.floor(this.clock.now() / HOUR_MS);
    const hours = Array.from({ length: HOURS }, (_, index) => thisHour - index);
    const used = await this.repository.find(clientId, hours);
    const refusals = await this.repository.findRefusals(clientId);
    return {
      outcomes: outcomesOf(used),
      refusals: refusals.slice(0, LATEST_REFUSALS).map(({ at, ...refusal }) => {
        return { at: new Date(at).toISOString(), ...refusal };
      }),
    };
  }
}

function outcomesOf(used: readonly UsageHour[]): OutcomeReport[] {
  const reports = new Map<string, OutcomeReport>();
  for (const { status, code, used: requests } of used) {
    const name = `${status} ${code}`;
    const report = reports.get(name) ?? { code: code || null, status, requests: 0 };
    reports.set(name, report);
    report.requests += requests;
  }
  return [...reports.values()].sort((one, other) => other.requests - one.requests);
}
