import type { AuditRecord } from '../../src/keys/audit-record.entity.js';
import { AuditTrail } from '../../src/keys/audit-trail.js';
import { KeyList } from '../../src/keys/key-list.js';
import { KeysService } from '../../src/keys/keys.service.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService, type TestService } from '../support/start-service.js';

const HOUR_MS = 3_600_000;
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const BY_ROOT = {
  actor: { type: 'cli' as const, name: 'cli:root' },
  address: null,
  requestId: null,
};
const BY_EVE = {
  actor: { type: 'cli' as const, name: 'cli:eve' },
  address: '192.0.2.1',
  requestId: 'by-hand',
};

function trail(service: TestService, keyId?: string): Promise<AuditRecord[]> {
  return service.store.app.get(AuditTrail).find(keyId, 100);
}

describe('the audit trail', () => {
  it('shows who changed a key, and its state before and after, the latest first', async () => {
    await using service = await startService();
    const keys = service.store.app.get(KeysService).by(BY_ROOT);
    const { record } = await keys.issue({ name: 'zoo', plan: 'free' });
    const { id } = record;
    await keys.setPlan(id, 'enterprise', { perMinute: 5, perDay: 50 });
    await keys.setScopes(id, ['pets:read']);
    const rotated = await keys.rotate(id, HOUR_MS);
    await keys.revoke(id);

    const common = { id: expect.stringMatching(/^aud_/), at: ISO, target: id, ...BY_ROOT };
    const end = new Date(rotated.replaced.expiresAt!).toISOString();
    const records = await trail(service, id);
    expect(records).toEqual([
      { ...common, action: 'key.revoke', before: { revokedAt: null }, after: { revokedAt: ISO } },
      {
        ...common,
        action: 'key.rotate',
        before: { replacedBy: null, expiresAt: null },
        after: { replacedBy: rotated.record.id, expiresAt: end },
      },
      {
        ...common,
        action: 'key.set_scopes',
        before: { scopes: ['pets:read', 'pets:write'] },
        after: { scopes: ['pets:read'] },
      },
      {
        ...common,
        action: 'key.set_plan',
        before: { plan: 'free', perMinute: 60, perDay: 1_000 },
        after: { plan: 'enterprise', perMinute: 5, perDay: 50 },
      },
      {
        ...common,
        action: 'key.issue',
        before: null,
        after: {
          name: 'zoo',
          plan: 'free',
          perMinute: 60,
          perDay: 1_000,
          scopes: ['pets:read', 'pets:write'],
          expiresAt: null,
        },
      },
    ]);
    expect(new Set(records.map((each) => each.id)).size).toBe(5);
    expect((await trail(service, rotated.record.id)).map(({ action }) => action)).toEqual([
      'key.rotate',
    ]);
  });

  it('has a record of a plan change for each key of the client', async () => {
    await using service = await startService();
    const keys = service.store.app.get(KeysService);
    const { record } = await keys.issue({ name: 'zoo', plan: 'free' });
    const next = await keys.rotate(record.id, HOUR_MS);
    await keys.setPlan(record.id, 'pro', {});
    const changed = (await trail(service)).filter(({ action }) => action === 'key.set_plan');
    expect(changed.map(({ target }) => target).sort()).toEqual([record.id, next.record.id].sort());
  });

  it('has no record of an action that changes nothing', async () => {
    await using service = await startService();
    const keys = service.store.app.get(KeysService);
    const { record } = await keys.issue({ name: 'zoo', plan: 'free' });
    await keys.revoke(record.id);
    const before = await trail(service);
    await keys.revoke(record.id);
    await keys.setPlan(record.id, 'free', {});
    await keys.setScopes(record.id, ['pets:read', 'pets:write']);
    await keys.unban(record.id);
    await expect(keys.rotate(record.id, 0)).rejects.toThrow('is revoked');
    expect(await trail(service)).toEqual(before);
  });

  it('is saved with the change in one transaction, and logged only after the commit', async () => {
    const { logger, lines } = recordedLog();
    await using service = await startService({ logger });
    const keys = service.store.app.get(KeysService);
    const { record } = await keys.issue({ name: 'zoo', plan: 'free' });
    const before = await trail(service);
    lines.length = 0;
    const unnamed = keys.by({
      ...BY_ROOT,
      actor: { type: 'cli', name: null as unknown as string },
    });
    await expect(unnamed.rotate(record.id, HOUR_MS)).rejects.toThrow(/null/i);
    await expect(unnamed.issue({ name: 'ark', plan: 'free' })).rejects.toThrow(/null/i);
    expect(await service.store.app.get(KeyList).find()).toEqual([
      { ...record, bannedUntilMs: null },
    ]);
    expect(await trail(service)).toEqual(before);
    expect(lines.filter(({ details }) => details.event === 'audit')).toEqual([]);
  });

  it('has a record of each ban with its request, and of its end; both are logged', async () => {
    const { logger, lines } = recordedLog();
    await using service = await startService({
      clock: new FakeClock(),
      logger,
      env: { BAN_AFTER_REJECTIONS: '2', BAN_SECONDS: '7' },
    });
    const client = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 1 });
    for (let request = 1; request <= 6; request++) {
      await client.get('/v1/pets', { 'x-request-id': `request-${request}` });
    }
    const target = client.keyId!;
    await eventually(async () => (await trail(service, target)).length > 1);
    const keys = service.store.app.get(KeysService).by(BY_EVE);
    await keys.unban(target);
    await keys.unban(target);

    const [unban, ban, issue, ...more] = await trail(service, target);
    expect(ban).toEqual({
      id: expect.any(String),
      at: ISO,
      action: 'key.ban',
      actor: { type: 'service', name: 'service' },
      target,
      address: '127.0.0.1',
      requestId: 'request-4',
      before: { bannedUntil: null },
      after: { bannedUntil: ISO, seconds: 7, plan: 'enterprise' },
    });
    expect(unban).toMatchObject({
      action: 'key.unban',
      ...BY_EVE,
      before: { bannedUntil: ban!.after!['bannedUntil'] },
      after: { bannedUntil: null },
    });
    expect([issue!.action, more]).toEqual(['key.issue', []]);

    const events = lines.filter(({ details }) => 'event' in details);
    const bans = events.filter(({ details }) => details.event === 'ban');
    expect(bans).toEqual([
      {
        level: 'warn',
        details: {
          event: 'ban',
          requestId: 'request-4',
          keyId: target,
          plan: 'enterprise',
          seconds: 7,
          until: ban!.after!['bannedUntil'],
          address: '127.0.0.1',
        },
        message: expect.stringMatching(new RegExp(`${target}.*enterprise.*7 s`)),
      },
    ]);
    const audited = events.filter(({ details }) => details.event === 'audit');
    expect(audited.map(({ details }) => details.audit)).toEqual([issue, ban, unban]);
    expect(audited.map(({ details }) => details.requestId)).toEqual([
      undefined,
      'request-4',
      'by-hand',
    ]);
    expect(JSON.stringify([lines, await trail(service)])).not.toContain(client.key);
  });
});
