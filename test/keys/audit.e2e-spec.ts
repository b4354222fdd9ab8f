import { AuditTrail } from '../../src/core/keys/audit-trail.js';
import { KeyList } from '../../src/core/keys/key-list.js';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { recordedLog } from '../support/recorded-log.js';
import { useService } from '../support/start-service.js';

const HOUR_MS = 3_600_000;
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const BY_EVE = {
  actor: { type: 'cli' as const, name: 'cli:eve' },
  address: '192.0.2.1',
  requestId: 'by-hand',
};

describe('the audit trail', () => {
  const { logger, lines } = recordedLog();
  const { service } = useService({
    clock: new FakeClock(),
    logger,
    env: { BAN_AFTER_REJECTIONS: '2', BAN_SECONDS: '7' },
  });
  const keys = () => service.store.app.get(KeysService);
  const trail = (keyId?: string) => service.store.app.get(AuditTrail).find(100, { keyId });
  const logged = (event: string) => lines.filter(({ details }) => details.event === event);

  it('has a record of each change, with actor and the state before and after, the latest first', async () => {
    const { record } = await keys().issue({ name: 'zoo', plan: 'free' }, BY_EVE);
    const { id } = record;
    await keys().set(id, { plan: 'enterprise', perMinute: 5, perDay: 50 }, BY_EVE);
    await keys().set(id, { scopes: ['pets:read'] }, BY_EVE);
    const rotated = await keys().rotate(id, HOUR_MS, BY_EVE);
    await keys().revoke(id, BY_EVE);

    const free = { plan: 'free', perMinute: 60, perDay: 1_000 };
    const scopes = ['pets:read', 'pets:write'];
    const expiresAt = new Date(rotated.replaced.expiresAt!).toISOString();
    const records = await trail(id);
    expect(records).toEqual(
      [
        ['key.revoke', { revokedAt: null }, { revokedAt: ISO }],
        [
          'key.rotate',
          { replacedBy: null, expiresAt: null },
          { replacedBy: rotated.record.id, expiresAt },
        ],
        ['key.set_scopes', { scopes }, { scopes: ['pets:read'] }],
        ['key.set_plan', free, { plan: 'enterprise', perMinute: 5, perDay: 50 }],
        ['key.issue', null, { name: 'zoo', ...free, scopes, allowedFrom: [], expiresAt: null }],
      ].map(([action, before, after]) => ({
        ...{ id: expect.stringMatching(/^aud_/), at: ISO, target: id, ...BY_EVE },
        ...{ action, before, after },
      })),
    );
    expect(new Set(records.map((each) => each.id)).size).toBe(5);
    expect(await trail(rotated.record.id)).toMatchObject([{ action: 'key.rotate' }]);
  });

  it('has a record of a plan change for each key of the client', async () => {
    const { record } = await keys().issue({ name: 'zoo', plan: 'free' }, BY_EVE);
    const next = await keys().rotate(record.id, HOUR_MS, BY_EVE);
    await keys().set(record.id, { plan: 'pro' }, BY_EVE);
    for (const { id } of [record, next.record]) {
      expect((await trail(id))[0]).toMatchObject({ action: 'key.set_plan', target: id });
    }
  });

  it('has no record of an action that changes nothing', async () => {
    const { record } = await keys().issue({ name: 'zoo', plan: 'free' }, BY_EVE);
    await keys().revoke(record.id, BY_EVE);
    const before = await trail();
    await keys().revoke(record.id, BY_EVE);
    await keys().set(record.id, { plan: 'free' }, BY_EVE);
    for (const scopes of [
      ['pets:read', 'pets:write'],
      ['pets:write', 'pets:read'],
    ]) {
      await keys().set(record.id, { scopes }, BY_EVE);
    }
    await keys().unban(record.id, BY_EVE);
    await expect(keys().rotate(record.id, 0, BY_EVE)).rejects.toThrow('is revoked');
    await expect(keys().set(record.id, { scopes: ['pets:fly'] }, BY_EVE)).rejects.toThrow(
      'pets:fly',
    );
    expect(await trail()).toEqual(before);
  });

  it('is saved with the change in one transaction, and logged only after the commit', async () => {
    const { record } = await keys().issue({ name: 'zoo', plan: 'free' }, BY_EVE);
    const state = async () => [await trail(), await service.store.app.get(KeyList).find()];
    const before = await state();
    lines.length = 0;
    const actor = { type: 'cli' as const, name: null as unknown as string };
    const unnamed = { ...BY_EVE, actor };
    await expect(keys().rotate(record.id, HOUR_MS, unnamed)).rejects.toThrow(/null/i);
    await expect(keys().issue({ name: 'ark', plan: 'free' }, unnamed)).rejects.toThrow(/null/i);
    expect(await state()).toEqual(before);
    expect(logged('audit')).toEqual([]);
  });

  it('has a record of each ban with its request, and of its end; both are logged', async () => {
    const client = await service.client({ perMinute: 1, perDay: 1 });
    const target = client.keyId!;
    lines.length = 0;
    for (let request = 1; request <= 6; request++) {
      await client.get('/v1/pets', { 'x-request-id': `request-${request}` });
    }
    await eventually(async () => (await trail(target)).length > 1);
    await keys().unban(target, BY_EVE);
    await keys().unban(target, BY_EVE);

    const [unban, ban, issue, ...more] = await trail(target);
    const until = ban!.after!['bannedUntil'];
    const requestId = 'request-4';
    expect(ban).toEqual({
      ...{ id: expect.any(String), at: ISO, target, action: 'key.ban' },
      ...{ actor: { type: 'service', name: 'service' }, address: '127.0.0.1', requestId },
      before: { bannedUntil: null },
      after: { bannedUntil: ISO, seconds: 7, plan: 'enterprise' },
    });
    expect(unban).toMatchObject({
      action: 'key.unban',
      ...BY_EVE,
      before: { bannedUntil: until },
      after: { bannedUntil: null },
    });
    expect([issue!.action, more]).toEqual(['key.issue', []]);
    const details = { requestId, keyId: target, plan: 'enterprise', seconds: 7, until };
    expect(logged('ban')).toEqual([
      {
        level: 'warn',
        details: { event: 'ban', address: '127.0.0.1', ...details },
        message: expect.stringMatching(new RegExp(`${target}.*enterprise.*7 s`)),
      },
    ]);
    expect(logged('audit').map(({ details }) => [details.audit, details.requestId])).toEqual([
      [ban, requestId],
      [unban, 'by-hand'],
    ]);
    expect(JSON.stringify([lines, await trail(target)])).not.toContain(client.key);
  });
});
