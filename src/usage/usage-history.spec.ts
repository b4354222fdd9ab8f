import { FakeClock } from '../../test/support/clock.js';
import { recordedLog } from '../../test/support/recorded-log.js';
import type { ApiRequest } from '../http/request-context.js';
import { UsageHistory } from './usage-history.js';
import type { LatestRefusals, UsageCount, UsageLedger } from './usage-ledger.js';

function request(clientId: string, code?: string): ApiRequest {
  const refusal = code === undefined ? undefined : { code, address: '192.0.2.1' };
  return {
    caller: { clientId: 'as named', quota: { subject: clientId } },
    refusal,
    operation: 'listPets',
  } as unknown as ApiRequest;
}

describe(UsageHistory.name, () => {
  let journal: UsageCount[];
  let latest: LatestRefusals[];
  let isAway: boolean;
  let history: UsageHistory;
  let log: ReturnType<typeof recordedLog>;

  beforeEach(() => {
    [journal, latest, isAway] = [[], [], false];
    log = recordedLog();
    const ledger: Partial<UsageLedger> = {
      append: (_writer, _sequence, batch) => {
        if (isAway) return Promise.reject(new Error('away'));
        journal.push(...batch.map((count) => ({ ...count })));
        return Promise.resolve();
      },
      saveRefusals: (batch) => {
        latest.push(...batch);
        return Promise.resolve();
      },
      save: () => Promise.resolve(),
      drop: () => Promise.resolve(),
      adopt: () => Promise.resolve(),
    };
    history = new UsageHistory(ledger as UsageLedger, new FakeClock(), log.logger);
  });

  it('saves what has changed, and nothing of callers that nobody knows', async () => {
    history.record({ caller: undefined } as ApiRequest, 401);
    history.record(request('zoo'), 200);
    await history.save();
    await history.save();
    expect(journal).toMatchObject([{ clientId: 'zoo', status: 200, code: '', used: 1 }]);
  });

  it('keeps what cannot be saved for the next time, and complains once per outage', async () => {
    isAway = true;
    for (let failure = 0; failure < 3; failure++) {
      history.record(request('zoo'), 200);
      await history.save();
    }
    expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
    isAway = false;
    await history.save();
    expect(journal).toMatchObject([{ used: 3 }]);
  });

  it('has a bounded number of outcomes and refusals of a client, whatever codes a guest has', async () => {
    for (let hit = 0; hit < 500; hit++) history.record(request('zoo', `code_${hit}`), 409);
    history.record(request('zoo', 'not a \u0000 code'), 409);
    await history.save();
    expect(journal).toHaveLength(65);
    expect(journal.find(({ code }) => code === 'other')!.used).toBe(500 - 64 + 1);
    expect(latest).toHaveLength(1);
    expect(latest[0]!.refusals).toHaveLength(10);
  });

  it('saves the refusals of many clients in turn, and of all at the end', async () => {
    for (let client = 0; client < 250; client++) history.record(request(`c${client}`, 'no'), 429);
    const saved = () => latest.splice(0).map(({ clientId }) => clientId);
    await history.save();
    expect(saved()).toEqual(Array.from({ length: 100 }, (_none, index) => `c${index}`));
    history.record(request('c0', 'no'), 429);
    await history.save();
    expect(saved()[0]).toBe('c100');
    await history.beforeApplicationShutdown();
    expect(saved()).toEqual([
      ...Array.from({ length: 50 }, (_none, index) => `c${index + 200}`),
      'c0',
    ]);
  });

  it('counts on under another name where it has forgotten, so that nothing is told twice', async () => {
    history.mostClients = 10;
    for (let client = 0; client <= 10; client++) history.record(request(`c${client}`), 200);
    history.record(request('c0'), 200);
    await history.save();
    const first = journal.filter(({ clientId }) => clientId === 'c0');
    expect(first.map(({ used }) => used)).toEqual([1, 1]);
    expect(new Set(first.map(({ writer }) => writer)).size).toBe(2);
  });
});
