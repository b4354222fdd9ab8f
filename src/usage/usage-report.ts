import { Injectable } from '@nestjs/common';
import { Clock } from '../time/clock.js';
import { HOUR_MS } from '../time/windows.js';
import type { UsageHour } from './usage-hour.entity.js';
import { UsageRepository } from './usage.repository.js';

/** Number of rejected requests that are shown of each client. */
export const LATEST_REFUSALS = 10;

const OUTCOME_HOURS = 24;
/** Codes of requests that consumed no quota. */
const REFUSED = new Set(['rate_limit_exceeded', 'key_banned', 'invalid_api_key']);

/** The requests of a client within an hour. */
export interface HourReport {
  /** The start of the hour: ISO 8601. */
  hour: string;
  admitted: number;
  refused: number;
  /** By class of status: `2xx`. */
  statuses: Record<string, number>;
}

export interface OutcomeReport {
  /** The code of the error, null if there was none. */
  code: string | null;
  status: number;
  requests: number;
}

export interface RefusalReport {
  /** ISO 8601. */
  at: string;
  code: string;
  operation: string;
  address: string;
}

export interface UseReport {
  hours: HourReport[];
  /** The outcomes of the last 24 hours, the current one included; the most frequent first. */
  outcomes: OutcomeReport[];
  /** The latest first. */
  refusals: RefusalReport[];
}

/** Reports the recorded usage of a client, up to some ten seconds ago. */
@Injectable()
export class UsageReport {
  constructor(
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /** @param hours number of hours up to now; those without a request are left out */
  async of(clientId: string, hours: number): Promise<UseReport> {
    const thisHour = Math.floor(this.clock.now() / HOUR_MS);
    const wanted = Array.from({ length: hours }, (_, index) => thisHour - index);
    const used = await this.repository.find(clientId, wanted);
    const latest = (await this.repository.findRefusals(clientId)).slice(0, LATEST_REFUSALS);
    return {
      hours: hoursOf(used),
      outcomes: outcomesOf(used.filter(({ hour }) => hour > thisHour - OUTCOME_HOURS)),
      refusals: latest.map(({ at, ...refusal }) => ({
        at: new Date(at).toISOString(),
        ...refusal,
      })),
    };
  }
}

function hoursOf(used: readonly UsageHour[]): HourReport[] {
  const reports = new Map<number, HourReport>();
  for (const { hour, status, code, used: requests } of used) {
    const start = new Date(hour * HOUR_MS).toISOString();
    const report = reports.get(hour) ?? { hour: start, admitted: 0, refused: 0, statuses: {} };
    reports.set(hour, report);
    report[REFUSED.has(code) ? 'refused' : 'admitted'] += requests;
    const statusClass = `${Math.floor(status / 100)}xx`;
    report.statuses[statusClass] = (report.statuses[statusClass] ?? 0) + requests;
  }
  return [...reports.values()];
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
