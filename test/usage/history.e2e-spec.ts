import { DataSource } from 'typeorm';
import type { ApiRequest } from '../../src/http/request-context.js';
import { SharedNames } from '../../src/rate-limits/names.js';
import { UsageHistory } from '../../src/usage/usage-history.js';
import { UsageLedger } from '../../src/usage/usage-ledger.js';
import { UsageReport } from '../../src/usage/usage-report.js';
import { FakeClock } from '../support/clock.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService, type TestService } from '../support/start-service.js';

const DAY_HOURS = 24;
const YEAR_HOURS = 365 * DAY_HOURS;

function request(clientId: string, code?: string): ApiRequest {
  const refusal = code === undefined ? undefined : { code, address: '192.0.2.1' };
  return {
    caller: { clientId: 'as named', quota: { subject: clientId } },
    refusal,
    operation: 'listPets',
  } as unknown as ApiRequest;
}

function rig({ store }: TestService, clock: FakeClock) {
  const ledger = store.app.get(UsageLedger);
  return {
    ledger,
    history: store.app.get(UsageHistory),
    /** As a further process that serves the same database. */
    node: () => new UsageHistory(ledger, clock, recordedLog().logger, new SharedNames()),
    report: (clientId: string, hours = DAY_HOURS) => store.app.get(UsageReport).of(clientId, hours),
    query: (sql: string) => store.app.get(DataSource).query<unknown[]>(sql),
  };
}

describe('the history of use', () => {
  it('tells what a client got by hour and outcome, and why it was refused of late', async () => {
    const clock = new FakeClock(Date.parse('2026-06-15T12:59:00Z'));
    await using service = await startService({ clock, env: { BAN_AFTER_REJECTIONS: '1' } });
    const { history, report } = rig(service, clock);
    const client = await service.client({ plan: 'enterprise', perMinute: 2, perDay: 100 });
    await client.get('/v1/pets');
    await client.get('/v1/pets/7');
    await client.get('/v1/pets');
    clock.advance(60_000);
    await client.post('/v1/pets', {});
    await service.anonymous().get('/v1/pets');
    await history.save();

    const { hours, outcomes, refusals } = await report(client.keyId!);
    expect(hours).toEqual([
      {
        hour: '2026-06-15T12:00:00.000Z',
        admitted: 2,
        refused: 1,
        statuses: { '2xx': 1, '4xx': 2 },
      },
      { hour: '2026-06-15T13:00:00.000Z', admitted: 1, refused: 0, statuses: { '4xx': 1 } },
    ]);
    expect(outcomes).toHaveLength(4);
    expect(outcomes).toEqual(
      expect.arrayContaining([
        { code: null, status: 200, requests: 1 },
        { code: 'pet_not_found', status: 404, requests: 1 },
        { code: 'rate_limit_exceeded', status: 429, requests: 1 },
        { code: 'invalid_request', status: 400, requests: 1 },
      ]),
    );
    const address = '127.0.0.1';
    expect(refusals).toEqual([
      { at: '2026-06-15T13:00:00.000Z', code: 'invalid_request', operation: 'createPet', address },
      {
        at: '2026-06-15T12:59:00.000Z',
        code: 'rate_limit_exceeded',
        operation: 'listPets',
        address,
      },
      { at: '2026-06-15T12:59:00.000Z', code: 'pet_not_found', operation: 'getPet', address },
    ]);
    clock.advance(23 * 3_600_000);
    expect((await report(client.keyId!)).outcomes).toEqual([
      { code: 'invalid_request', status: 400, requests: 1 },
    ]);
  });

  it('adds up nodes, each request once, however often and wherever it is saved', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const { node, report, query } = rig(service, clock);
    const [one, other] = [node(), node()];
    const used = async () => (await report('zoo')).hours.map(({ admitted }) => admitted);
    for (let round = 1; round <= 3; round++) {
      for (const each of [one, other]) {
        each.record(request('zoo'), 200);
        each.record(request('zoo'), 200);
        await each.save();
      }
      expect(await used()).toEqual([4 * round]);
      await one.bring();
      expect(await used()).toEqual([4 * round]);
    }
    await Promise.all([one.bring(), other.bring(), one.save()]);
    expect(await used()).toEqual([12]);
    expect(await query('SELECT * FROM usage_journal')).toEqual([]);
  });

  it('takes over what an ended process has left, once', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const { node, history, report, query } = rig(service, clock);
    const ended = node();
    for (let hit = 0; hit < 3; hit++) ended.record(request('zoo'), 201);
    await ended.save();
    await history.bring();
    expect(await query('SELECT writer FROM usage_journal')).toHaveLength(1);
    await query('UPDATE usage_journal SET saved_at = 0');
    await history.bring();
    await history.bring();
    expect(await query('SELECT writer FROM usage_journal')).toEqual([]);
    expect((await report('zoo')).hours).toMatchObject([{ admitted: 3, statuses: { '2xx': 3 } }]);
  });

  it('keeps 90 days of it', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const { node, report } = rig(service, clock);
    const history = node();
    const use = async (): Promise<void> => {
      history.record(request('zoo', 'key_banned'), 429);
      await history.save();
      await history.bring();
    };
    const known = async () => {
      const { hours, refusals } = await report('zoo', YEAR_HOURS);
      return [hours.length, refusals.length];
    };
    await use();
    clock.advance(89 * 86_400_000);
    await use();
    expect(await known()).toEqual([2, 2]);
    clock.advance(2 * 86_400_000);
    await history.bring();
    expect(await known()).toEqual([1, 2]);
  });
});
