import { Injectable } from '@nestjs/common';
import { Clock } from '../time/clock.js';
import { HOUR_MS } from '../time/windows.js';
import { LATEST_TOLD, UsageLedger, type UsedInHour } from './usage-ledger.js';

/** Those that take nothing of the quota: it refuses them, or their key is no longer in force. */
const REFUSED = new Set(['rate_limit_exceeded', 'key_banned', 'invalid_api_key']);

/** What a client got within an hour. */
export interface HourReport {
  /** When it began: ISO 8601. */
  hour: string;
  admitted: number;
  refused: number;
  /** By class of status: `2xx`. */
  statuses: Record<string, number>;
}

/** How often an answer was given: `code` is the error's, null where there was none. */
export interface OutcomeReport {
  code: string | null;
  status: number;
  requests: number;
}

export interface RefusalReport {
  at: string;
  code: string;
  operation: string;
  address: string;
}

export interface UseReport {
  hours: HourReport[];
  /** Of the last 24 hours by the clock, the one that runs included; the most frequent first. */
  outcomes: OutcomeReport[];
  /** The latest first. */
  refusals: RefusalReport[];
}

/** What clients got, as recorded: at most a second old. */
@Injectable()
export class UsageReport {
  constructor(
    private readonly ledger: UsageLedger,
    private readonly clock: Clock,
  ) {}

  /** @param hours so many up to now; those in which nothing was asked are left out */
  async of(clientId: string, hours: number): Promise<UseReport> {
    const thisHour = Math.floor(this.clock.now() / HOUR_MS);
    const used = await this.ledger.usedSince(clientId, thisHour - hours + 1);
    const latest = (await this.ledger.refusalsOf(clientId)).slice(0, LATEST_TOLD);
    return {
      hours: hoursOf(used),
      outcomes: outcomesOf(used.filter(({ hour }) => hour > thisHour - 24)),
      refusals: latest.map(({ at, code, operation, address }) => ({
        at: new Date(at).toISOString(),
        code,
        operation,
        address,
      })),
    };
  }
}

function hoursOf(used: readonly UsedInHour[]): HourReport[] {
  const reports = new Map<number, HourReport>();
  for (const { hour, status, code, used: requests } of used) {
    let report = reports.get(hour);
    if (report === undefined) {
      const begin = new Date(hour * HOUR_MS).toISOString();
      report = { hour: begin, admitted: 0, refused: 0, statuses: {} };
      reports.set(hour, report);
    }
    report[REFUSED.has(code) ? 'refused' : 'admitted'] += requests;
    const statusClass = `${Math.floor(status / 100)}xx`;
    report.statuses[statusClass] = (report.statuses[statusClass] ?? 0) + requests;
  }
  return [...reports.values()];
}

function outcomesOf(used: readonly UsedInHour[]): OutcomeReport[] {
  const reports = new Map<string, OutcomeReport>();
  for (const { status, code, used: requests } of used) {
    const name = `${status} ${code}`;
    const known = reports.get(name);
    if (known === undefined) reports.set(name, { code: code || null, status, requests });
    else known.requests += requests;
  }
  return [...reports.values()].sort((one, other) => other.requests - one.requests);
}
