import { Injectable } from '@nestjs/common';
import { isoTime } from '../keys/audit-record.entity.js';
import { Clock } from '../time/clock.js';
import { HOUR_MS } from '../time/windows.js';
import { append, type Refusal, type UsageHour } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

/** Groups of rejected requests that are shown of each client. */
const LATEST_REFUSALS = 10;

const HOURS = 24;

/** The requests of a client by hour, and its latest rejected ones. */
export interface UsageHistory {
  /** Hours since the Unix epoch with the number of requests by code, oldest first. */
  hours: { hour: number; codes: Record<string, number> }[];
  /** The latest groups, newest first. The keys of the client are not told apart. */
  refusals: Refusal[];
}

export interface OutcomeReport {
  /** The code of the error, null if there was none. */
  code: string | null;
  status: number;
  requests: number;
}

/** Times are ISO 8601. */
export type RefusalReport = Omit<Refusal, 'at' | 'firstAt'> & { at: string; firstAt: string };

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
    const { used, refusals } = await this.load(clientId, HOURS);
    return {
      outcomes: outcomesOf(used),
      refusals: refusals.slice(0, LATEST_REFUSALS).map(({ at, firstAt, ...refusal }) => {
        return { at: isoTime(at)!, firstAt: isoTime(firstAt)!, ...refusal };
      }),
    };
  }

  /** @param hours number of hours, the current one included */
  async history(clientId: string, hours: number): Promise<UsageHistory> {
    const { used, refusals } = await this.load(clientId, hours);
    const codes = new Map<number, Record<string, number>>();
    for (const { hour, code, used: requests } of used) {
      const ofHour = codes.get(hour) ?? {};
      ofHour[code || 'ok'] = (ofHour[code || 'ok'] ?? 0) + requests;
      codes.set(hour, ofHour);
    }
    const groups = refusals.reduceRight<Refusal[]>((joined, refusal) => {
      return append(joined, { ...refusal, keyId: undefined });
    }, []);
    return {
      hours: Array.from(codes, ([hour, of]) => ({ hour, codes: of })),
      refusals: groups.slice(-LATEST_REFUSALS).reverse(),
    };
  }

  private async load(clientId: string, hours: number) {
    const thisHour = Math.floor(this.clock.now() / HOUR_MS);
    const numbers = Array.from({ length: hours }, (_, index) => thisHour - index);
    const used = await this.repository.find(clientId, numbers);
    return { used, refusals: await this.repository.findRefusals(clientId) };
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
