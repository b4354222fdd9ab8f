import { useAdminService } from '../support/admin.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError } from '../support/expectations.js';

const KEYS = '/admin/v1/keys';

interface Issued {
  id: string;
  key: string;
}

describe('the rotation of a key by its holder', () => {
  const clock = new FakeClock(Date.parse('2027-03-01T00:00:00Z'));
  const started = useAdminService({ clock });
  const issue = async (): Promise<Issued> => {
    const terms = { name: 'Zoo', plan: 'free', scopes: ['pets:read', 'key:rotate'] };
    return (await started.admin.post(KEYS, terms)).json();
  };
  const clientOf = ({ key }: { key: string }) => new Client(started.service.origin, key);
  const rotate = (holder: Client, graceSeconds = 60) =>
    holder.post('/v1/key/rotate', { graceSeconds });
  const rotateAsOperator = (id: string) => started.admin.post(`${KEYS}/${id}/rotate`, {});
  const stateOf = async (id: string) => (await started.admin.get(`${KEYS}/${id}`)).json();

  it('is rejected after a rotation by an operator, which the operator can repeat', async () => {
    const leaked = await issue();
    const successor = (await rotateAsOperator(leaked.id)).json();
    expectError(await rotate(clientOf(leaked)), 409, 'key_already_rotated');
    expect(await stateOf(leaked.id)).toMatchObject({ replacedBy: successor.id });
    const repeated = await rotateAsOperator(leaked.id);
    expect(repeated.status).toBe(201);
    expectError(await rotate(clientOf(leaked)), 409, 'key_already_rotated');
    expect((await clientOf(repeated.json()).get('/v1/key')).status).toBe(200);
  });

  it.each<[string, string, unknown]>([
    ['disabled', '', { disabled: true }],
    ['narrowed', '', { scopes: ['pets:read'] }],
    ['renamed', '', { name: 'Ark' }],
    ['limited in time', '', { expiresAt: '2028-01-01' }],
    ['moved to another plan', '', { plan: 'pro' }],
    ['revoked', '/revoke', {}],
  ])('is rejected once an operator has %s its unused successor', async (_what, path, body) => {
    const old = await issue();
    const { id } = (await rotate(clientOf(old))).json();
    const changed = await started.admin.post(
      `${KEYS}/${id}${path}`,
      body,
      {},
      path ? 'POST' : 'PATCH',
    );
    expect(changed.status).toBe(200);
    expectError(await rotate(clientOf(old)), 409, 'key_already_rotated');
    expect(await stateOf(id)).toEqual(changed.json());
    expect(await stateOf(old.id)).toMatchObject({ replacedBy: id });
  });

  it('can be withdrawn by an operator who rotates the same key', async () => {
    const old = await issue();
    const thief = (await rotate(clientOf(old))).json();
    const { id, key } = (await rotateAsOperator(old.id)).json();
    expectError(await clientOf(thief).get('/v1/key'), 401, 'invalid_api_key');
    expectError(await rotate(clientOf(old)), 409, 'key_already_rotated');
    expect((await clientOf({ key }).get('/v1/key')).json().id).toBe(id);
  });

  it('deletes the unused successor that a repeat withdraws', async () => {
    const old = await issue();
    const rotations = [];
    for (let count = 0; count < 5; count++) rotations.push((await rotate(clientOf(old))).json());
    const kept = rotations.pop();
    for (const { id } of rotations) {
      expectError(await started.admin.get(`${KEYS}/${id}`), 404, 'not_found');
    }
    const listed = (await started.admin.get(`${KEYS}?search=${old.id}`)).json();
    expect(listed.map(({ id }: Issued) => id).sort()).toEqual([old.id, kept.id].sort());
    const { replacedBy } = (await started.admin.get(`/admin/v1/audit?key=${old.id}`)).json()[0]
      .after;
    expect(replacedBy).toBe(kept.id);
  });

  it('leaves a client at most 30 valid keys', async () => {
    let latest = await issue();
    for (let count = 1; count < 30; count++) latest = (await rotate(clientOf(latest))).json();
    const rejected = await rotate(clientOf(latest));
    expectError(rejected, 409, 'key_already_rotated');
    expect(rejected.text).toContain('30 valid keys');
    clock.advance(61_000);
    expect((await rotate(clientOf(latest))).status).toBe(201);
  });

  it('is possible 100 times a day', async () => {
    clock.set('2027-03-02T00:00:00Z');
    let latest = await issue();
    for (let count = 0; count < 100; count++) {
      latest = (await rotate(clientOf(latest), 0)).json();
      clock.advance(1_500);
    }
    const limited = await rotate(clientOf(latest));
    expectError(limited, 429, 'rate_limit_exceeded');
    clock.set('2027-03-03T00:00:00Z');
    expect((await rotate(clientOf(latest))).status).toBe(201);
  });
});
