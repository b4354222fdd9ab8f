import { FakeClock } from '../../test/support/clock.js';
import { passBy } from '../../test/support/pass-by.js';
import { recordedLog } from '../../test/support/recorded-log.js';
import type { ApiRequest } from '../http/request-context.js';
import { SharedNames } from '../rate-limits/names.js';
import { HourCounts, UsageHistory } from './usage-history.js';
import type { RefusalsOfClient, UsageCount, UsageLedger } from './usage-ledger.js';

describe(HourCounts.name, () => {
  let names: SharedNames;
  let counts: HourCounts;
  beforeEach(() => {
    names = new SharedNames();
    counts = new HourCounts(7, 'node', names);
  });

  const count = (clientId: string, status: number, code?: string): void =>
    counts.countUp(counts.find(clientId, status, code) ?? counts.add(clientId, status, code ?? ''));

  it('tells apart clients, statuses and codes', () => {
    for (let round = 0; round < 3; round++) {
      count('zoo', 200);
      count('zoo', 409, 'taken');
    }
    count('zoo', 201);
    count('ark', 200);
    const told = Array.from({ length: 4 }, (_none, row) => counts.at(row));
    expect(told.map(({ clientId, status, code, used }) => [clientId, status, code, used])).toEqual([
      ['zoo', 200, '', 3],
      ['zoo', 409, 'taken', 3],
      ['zoo', 201, '', 1],
      ['ark', 200, '', 1],
    ]);
    expect(told.every(({ hour, writer }) => hour === 7 && writer === 'node')).toBe(true);
    expect([counts.clientCount, counts.outcomeCountOf('zoo')]).toEqual([2, 3]);
    expect([counts.outcomeCountOf('owl'), counts.find('owl', 200, undefined)]).toEqual([
      0,
      undefined,
    ]);
  });

  it('takes a refusal by its code, whatever the status', () => {
    count('zoo', 409, 'taken');
    count('zoo', 422, 'taken');
    expect(counts.at(0)).toMatchObject({ status: 409, code: 'taken', used: 2 });
    expect(counts.find('zoo', 409, undefined)).toBeUndefined();
  });

  it('has room for any number of clients, and keeps those that came first', () => {
    for (let round = 1; round <= 2; round++) {
      for (let client = 0; client < 5_000; client++) count(`c${client}`, 200);
    }
    expect(counts.clientCount).toBe(5_000);
    for (const client of [0, 1_023, 1_024, 4_999]) {
      expect(counts.at(client)).toMatchObject({ clientId: `c${client}`, used: 2 });
    }
  });

  it('tells which rows wait, however many there are, until they are told of', () => {
    for (let client = 0; client < 5_000; client++) count(`c${client}`, 200);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[], true]);
    counts.markUnbrought([4_999, 7, 7]);
    count('another', 200);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[7, 4_999], false]);
    counts.unmark([7, 7, 8]);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[4_999], false]);
    counts.unmark([4_999]);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[], true]);
    counts.unsaved.add(1);
    expect(counts.isDone).toBe(false);
  });

  it('keeps the names of its clients, whoever passes by', async () => {
    for (let client = 0; client < 3_000; client++) count(`c${client}`, 200);
    await passBy(names);
    for (let client = 0; client < 3_000; client++) count(`c${client}`, 200);
    for (let row = 0; row < 3_000; row++) {
      expect(counts.at(row)).toMatchObject({ clientId: `c${row}`, used: 2 });
    }
    expect(counts.find('second_9', 200, undefined)).toBeUndefined();
  });

  it('cuts what is longer than the database keeps', () => {
    count('x'.repeat(200), 200);
    expect(counts.at(0).clientId).toBe('x'.repeat(64));
  });
});

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
  let latest: RefusalsOfClient[];
  let brought: UsageCount[];
  let isAway: boolean;
  let isBusy: boolean;
  let clock: FakeClock;
  let history: UsageHistory;
  let log: ReturnType<typeof recordedLog>;

  beforeEach(() => {
    [journal, latest, brought, isAway, isBusy] = [[], [], [], false, false];
    clock = new FakeClock();
    log = recordedLog();
    const ledger: Partial<UsageLedger> = {
      append: (_writer, _sequence, batch) => {
        if (isAway) return Promise.reject(new Error('away'));
        if (isBusy) history.record(request('zoo'), 200);
        journal.push(...batch.map((count) => ({ ...count })));
        return Promise.resolve();
      },
      saveRefusals: (batch) => {
        latest.push(...batch);
        return Promise.resolve();
      },
      save: (batch) => {
        if (isAway) return Promise.reject(new Error('away'));
        brought.push(...batch);
        return Promise.resolve();
      },
      journal: {
        drop: () => Promise.resolve(),
        adopt: () => Promise.resolve(),
      } as unknown as UsageLedger['journal'],
    };
    history = new UsageHistory(ledger as UsageLedger, clock, log.logger, new SharedNames());
  });

  it('saves what has changed, and nothing of callers that nobody knows', async () => {
    history.record({ caller: undefined } as ApiRequest, 401);
    history.record(request('zoo'), 200);
    await history.save();
    await history.save();
    expect(journal).toMatchObject([{ clientId: 'zoo', status: 200, code: '', used: 1 }]);
  });

  it('leaves what is counted while it saves to the next time', async () => {
    isBusy = true;
    history.record(request('zoo'), 200);
    await history.save();
    expect(journal.map(({ used }) => used)).toEqual([1]);
    isBusy = false;
    await history.save();
    expect(journal.map(({ used }) => used)).toEqual([1, 2]);
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

  it('brings what was saved to its hour, once, also when the next one has begun meanwhile', async () => {
    history.record(request('zoo'), 200);
    const saving = history.save();
    clock.advance(3_600_000);
    history.record(request('zoo'), 200);
    await saving;
    await history.save();
    await history.bring();
    await history.bring();
    const hours = journal.map(({ hour }) => hour);
    expect(hours[1]).toBe(hours[0]! + 1);
    const told = brought.map(({ hour, used }) => [hour, used]).sort();
    expect(told).toEqual(hours.map((hour) => [hour, 1]));
  });

  it('brings later what could not be brought', async () => {
    history.record(request('zoo'), 200);
    await history.save();
    isAway = true;
    await history.bring();
    clock.advance(3_600_000);
    history.record(request('ark'), 200);
    isAway = false;
    await history.save();
    await history.bring();
    expect(brought.map(({ clientId }) => clientId)).toEqual(['zoo', 'ark']);
  });

  it('keeps a bounded number for later, and counts all again once those are saved', async () => {
    history.mostUnsaved = 2;
    isAway = true;
    for (const client of ['a', 'b', 'c']) history.record(request(client), 200);
    await history.save();
    clock.advance(3_600_000);
    history.record(request('zoo'), 200);
    isAway = false;
    await history.save();
    expect(journal.map(({ clientId }) => clientId)).toEqual(['a', 'b']);
    history.record(request('zoo'), 200);
    await history.save();
    expect(journal.slice(2)).toMatchObject([{ clientId: 'zoo', used: 2 }]);
  });

  it('tells of an hour under another name that a clock which was set back begins anew', async () => {
    history.record(request('zoo'), 200);
    clock.advance(3_600_000);
    history.record(request('zoo'), 200);
    clock.advance(-3_600_000);
    history.record(request('zoo'), 200);
    await history.save();
    const writers = new Set(journal.map(({ hour, writer }) => `${hour} ${writer}`));
    expect(writers.size).toBe(3);
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
