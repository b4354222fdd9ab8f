import type { FastifyRequest } from 'fastify';
import { HttpAdapterHost } from '@nestjs/core';
import { OutageError } from '../../src/database/outage.js';
import { UsageRecorder } from '../../src/usage/usage-recorder.js';
import { UsageReport } from '../../src/usage/usage-report.js';
import { UsageRepository } from '../../src/usage/usage.repository.js';
import { FakeClock } from '../support/clock.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService, type TestService } from '../support/start-service.js';

const HOUR_MS = 3_600_000;
const outage = new OutageError(new Error('away'));

function request(clientId: string, code?: string): FastifyRequest {
  const refusal = code === undefined ? undefined : { code, address: '192.0.2.1' };
  const caller = { quota: { subject: clientId } };
  return { caller, refusal, operation: 'listPets' } as unknown as FastifyRequest;
}

function rig({ store }: TestService, clock: FakeClock) {
  const repository = store.app.get(UsageRepository);
  const host = store.app.get(HttpAdapterHost);
  return {
    repository,
    recorder: store.app.get(UsageRecorder),
    /** The recorder of another process on the same database. */
    node: () => new UsageRecorder(host, repository, clock, recordedLog().logger),
    report: (clientId: string) => store.app.get(UsageReport).of(clientId),
  };
}

describe('the usage history', () => {
  it('shows the outcomes of the last 24 hours, and the latest refusals', async () => {
    const clock = new FakeClock(Date.parse('2026-06-15T12:59:00Z'));
    await using service = await startService({ clock, env: { BAN_AFTER_REJECTIONS: '1' } });
    const { recorder, report } = rig(service, clock);
    const client = await service.client({ plan: 'enterprise', perMinute: 2, perDay: 100 });
    await client.get('/v1/pets');
    await client.get('/v1/pets/7');
    await client.get('/v1/pets');
    clock.advance(60_000);
    await client.post('/v1/pets', {});
    await service.anonymous().get('/v1/pets');
    await recorder.flush();

    const { outcomes, refusals } = await report(client.keyId!);
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
    const [before, after] = ['2026-06-15T12:59:00.000Z', '2026-06-15T13:00:00.000Z'];
    expect(refusals).toEqual([
      { at: after, code: 'invalid_request', operation: 'createPet', address },
      { at: before, code: 'rate_limit_exceeded', operation: 'listPets', address },
      { at: before, code: 'pet_not_found', operation: 'getPet', address },
    ]);
    clock.advance(23 * HOUR_MS);
    expect((await report(client.keyId!)).outcomes).toEqual([
      { code: 'invalid_request', status: 400, requests: 1 },
    ]);
  });

  it('adds up all nodes, and counts each request once, also after an outage', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const { node, report, repository } = rig(service, clock);
    const [one, other] = [node(), node()];
    const used = async () => (await report('zoo')).outcomes.map(({ requests }) => requests);
    for (let round = 1; round <= 3; round++) {
      for (const each of [one, other]) {
        each.record(request('zoo'), 200);
        each.record(request('zoo'), 200);
      }
      await Promise.all([one.flush(), other.flush(), one.flush()]);
      expect(await used()).toEqual([4 * round]);
    }
    const add = jest.spyOn(repository, 'addCounts').mockRejectedValueOnce(outage);
    one.record(request('zoo'), 200);
    await one.flush();
    expect(await used()).toEqual([12]);
    add.mockRestore();
    one.record(request('zoo'), 200);
    await one.flush();
    expect(await used()).toEqual([14]);
  });
});
