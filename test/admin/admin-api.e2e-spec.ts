import { createHash } from 'node:crypto';
import { DataSource, EntityManager } from 'typeorm';
import { saveUsage } from '../support/background.js';
import { reportBanOnce } from '../support/counters.js';
import { issueAdminToken, useAdminService } from '../support/admin.js';
import { type Answer, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { RATE_HEADERS } from '../support/expectations.js';
import { onPostgres } from '../support/start-service.js';
import { jsonInProcess } from '../support/run-program.js';

const KEYS = '/admin/v1/keys';
const DAY_MS = 86_400_000;

/** The target of a `Link` to the next page. */
function nextOf({ headers }: Answer): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1];
}

describe('the admin API', () => {
  // In the future: an expiry is compared with the system's clock.
  const clock = new FakeClock(Date.parse('2100-06-15T12:00:00Z'));
  const started = useAdminService({ clock, env: { BAN_AFTER_REJECTIONS: '3' } });
  const petstore = (...argv: string[]) =>
    jsonInProcess(started.service.config.databaseUrl, ...argv);
  const patch = (id: string, body: unknown) =>
    started.admin.post(`${KEYS}/${id}`, body, {}, 'PATCH');
  const issue = async (terms: object = {}) =>
    (await started.admin.post(KEYS, { name: 'Zoo', plan: 'free', ...terms })).json();
  const actionsOf = async (id: string): Promise<string[]> =>
    (await started.admin.get(`/admin/v1/audit?key=${id}`))
      .json()
      .map(({ action }: { action: string }) => action);

  it('issues a key that works, with its address and an audit record', async () => {
    const { admin, service } = started;
    const expiresAt = new Date(clock.now() + DAY_MS).toISOString();
    const terms = { name: 'City zoo', plan: 'enterprise', perMinute: 7, perDay: 70 };
    const answer = await admin.post(KEYS, { ...terms, scopes: ['pets:read'], expiresAt });
    expect(answer.status).toBe(201);
    const { id, key } = answer.json();
    expect(answer.json()).toEqual({
      id,
      key: expect.stringMatching(/^psk_\w{49}$/),
      ...terms,
      scopes: ['pets:read'],
      createdAt: new Date(clock.now()).toISOString(),
      expiresAt,
    });
    expect(new URL(answer.headers.location!, started.origin).pathname).toBe(`${KEYS}/${id}`);
    const headers = { authorization: `Bearer ${key}` };
    expect((await service.anonymous().get('/v1/pets', headers)).status).toBe(200);
    const [record] = (await admin.get(`/admin/v1/audit?key=${id}`)).json();
    expect(record).toMatchObject({
      action: 'key.issue',
      actor: { type: 'admin', name: 'admin:ann' },
      address: '127.0.0.1',
      requestId: answer.headers['x-request-id'],
    });
    expect(JSON.stringify(record)).not.toContain(key);
  });

  it('responds with the objects that the command line prints', async () => {
    const { admin } = started;
    const { id } = await issue();
    const ofCommand = await petstore('keys', 'show', id);
    expect((await admin.get(`${KEYS}/${id}`)).json()).toEqual(ofCommand);
    expect((await admin.get(KEYS)).json()).toEqual(await petstore('keys', 'list'));
    expect((await admin.get('/admin/v1/audit')).json()).toEqual(
      await petstore('keys', 'audit', '--limit', '50'),
    );
    const memberNames = (value: object) => Object.keys(value).sort();
    const issued = await petstore('keys', 'issue', '--name', 'Zoo', '--plan', 'free');
    expect(memberNames(await issue())).toEqual(memberNames(issued));
    const rotated = await admin.post(`${KEYS}/${id}/rotate`, {});
    const byCommand = await petstore('keys', 'rotate', issued.id);
    expect(memberNames(rotated.json())).toEqual(memberNames(byCommand));
    expect(memberNames(rotated.json().replaces)).toEqual(memberNames(byCommand.replaces));
  });

  it('lists keys in pages, by every filter', async () => {
    const { admin } = started;
    const name = `Aquarium ${clock.now()}`;
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      clock.advance(1);
      ids.push((await issue({ name })).id);
    }
    const search = `search=${encodeURIComponent(name)}`;
    const found: string[] = [];
    let path: string | undefined = `${KEYS}?limit=2&${search}`;
    while (path !== undefined) {
      const answer: Answer = await admin.get(path);
      expect(answer.status).toBe(200);
      found.push(...answer.json().map(({ id }: { id: string }) => id));
      path = nextOf(answer);
    }
    expect(found).toEqual(ids);
    await admin.post(`${KEYS}/${ids[0]}/revoke`, {});
    await patch(ids[1]!, { disabled: true });
    await patch(ids[2]!, { plan: 'pro', expiresAt: new Date(clock.now() + DAY_MS).toISOString() });
    const idsOf = async (query: string) =>
      (await admin.get(`${KEYS}?${search}&${query}`)).json().map(({ id }: { id: string }) => id);
    expect(await idsOf('status=revoked')).toEqual([ids[0]]);
    expect(await idsOf('status=disabled')).toEqual([ids[1]]);
    expect(await idsOf('plan=pro')).toEqual([ids[2]]);
    expect(await idsOf('expiresWithinDays=14')).toEqual([ids[2]]);
    expect(await idsOf('neverUsed=true&status=active')).toEqual(ids.slice(2));
    expect(await idsOf('neverUsed=false')).toEqual(ids);
    expect(await idsOf('idleDays=1')).toEqual([]);
    expect(await idsOf(`after=${ids[3]}`)).toEqual([ids[4]]);
    expect(await idsOf('order=newest&limit=2')).toEqual([ids[4], ids[3]]);
    expect(await idsOf(`order=newest&after=${ids[1]}`)).toEqual([ids[0]]);
  });

  it('finds a key by its digest, and rejects a search for a key without repeating it', async () => {
    const { admin } = started;
    const { id, key } = await issue();
    const digest = createHash('sha256').update(key).digest('hex');
    const found = (await admin.get(`${KEYS}?digest=${digest}`)).json();
    expect(found).toEqual([expect.objectContaining({ id })]);
    const bare = key.slice(4);
    for (const search of [key, `Bearer ${key}`, `psa_${bare}`, bare, key.slice(0, 12)]) {
      const { status, text } = await admin.get(`${KEYS}?search=${encodeURIComponent(search)}`);
      expect([status, text.includes(bare.slice(0, 8))]).toEqual([400, false]);
      expect(text).toContain('search must be');
    }
    expect((await admin.get(`${KEYS}?digest=${digest}0`)).text).toContain('digest must');
  });

  it('changes a key, with one audit record for each change', async () => {
    const { id } = await issue();
    const expiresAt = new Date(clock.now() + DAY_MS).toISOString();
    const change = { name: 'Zoo 2', plan: 'pro', scopes: ['pets:read'], expiresAt, disabled: true };
    const answer = await patch(id, change);
    expect(answer.status).toBe(200);
    const terms = { ...change, disabled: undefined };
    delete terms.disabled;
    expect(answer.json()).toMatchObject({ id, ...terms, perMinute: 300 });
    expect(answer.json().disabledAt).toMatch(/Z$/);
    const set = ['key.set_scopes', 'key.set_plan', 'key.set_expiry'];
    expect((await actionsOf(id)).sort()).toEqual(
      ['key.disable', 'key.rename', 'key.issue', ...set].sort(),
    );
    expect((await patch(id, change)).status).toBe(200);
    expect(await actionsOf(id)).toHaveLength(6);
    const cleared = (await patch(id, { expiresAt: null, disabled: false })).json();
    expect(cleared).toMatchObject({ expiresAt: null, disabledAt: null });
    expect((await patch(id, {})).json()).toEqual(cleared);
  });

  it('restricts a key to addresses, with the lists before and after in the audit trail', async () => {
    const { admin } = started;
    const { id } = await issue({ allowedFrom: ['10.0.0.1'] });
    const lists = [['203.0.113.0/24', '2001:db8::1'], ['2001:db8::1', '203.0.113.0/24'], []];
    for (const allowedFrom of lists) {
      const answer = await patch(id, { allowedFrom });
      expect([answer.status, answer.json().allowedFrom]).toEqual([200, allowedFrom]);
    }
    // The order of a list means nothing.
    const records = (await admin.get(`/admin/v1/audit?key=${id}`)).json();
    const changes = records.filter(({ action }: { action: string }) => action === 'key.set_from');
    expect(changes).toHaveLength(2);
    const sorted = ['2001:db8::1', '203.0.113.0/24'];
    for (const [before, after] of [
      [['10.0.0.1'], sorted],
      [sorted, []],
    ]) {
      const states = { before: { allowedFrom: before }, after: { allowedFrom: after } };
      expect(changes).toContainEqual(expect.objectContaining(states));
    }
  });

  it('makes all changes of a request, or none', async () => {
    const { admin } = started;
    const { id } = await issue();
    const before = (await admin.get(`${KEYS}/${id}`)).json();
    const insert = EntityManager.prototype.insert;
    const fault = jest.spyOn(EntityManager.prototype, 'insert');
    fault.mockImplementation(function (this: EntityManager, ...given) {
      const [, values] = given;
      if ('action' in values && values.action === 'key.disable') throw new Error('no more space');
      return insert.apply(this, given);
    });
    const answer = await patch(id, { name: 'Zoo 3', scopes: ['pets:read'], disabled: true });
    fault.mockRestore();
    expect([answer.status, answer.json().code]).toEqual([500, 'internal_error']);
    expect((await admin.get(`${KEYS}/${id}`)).json()).toEqual(before);
    expect(await actionsOf(id)).toEqual(['key.issue']);
  });

  it('rotates, revokes and unbans a key', async () => {
    const { admin, service } = started;
    const client = await service.client({ perMinute: 1, perDay: 9 });
    while (!(await client.get('/v1/pets')).text.includes('key_banned'));
    const unbanned = await admin.post(`${KEYS}/${client.keyId}/unban`, {});
    expect(unbanned.json()).toMatchObject({ id: client.keyId, bannedUntil: null });
    // The counters may learn of it later.
    await reportBanOnce(service, client.keyId!, clock.now() + DAY_MS);
    const { bannedUntil } = (await admin.get(`${KEYS}/${client.keyId}/usage`)).json();
    expect(bannedUntil).toBeNull();
    const rotated = await admin.post(`${KEYS}/${client.keyId}/rotate`, { graceSeconds: 60 });
    expect(rotated.status).toBe(201);
    const { id, key, replaces } = rotated.json();
    expect(replaces.id).toBe(client.keyId);
    expect(Date.parse(replaces.expiresAt)).toBe(clock.now() + 60_000);
    const headers = { authorization: `Bearer ${key}` };
    await service.anonymous().get('/v1/pets', headers);
    const again = await admin.post(`${KEYS}/${client.keyId}/rotate`, {});
    expect([again.status, again.json().code]).toEqual([409, 'key_already_rotated']);
    const revoked = await admin.send(`${KEYS}/${id}/revoke`, { method: 'POST' });
    expect(revoked.json()).toMatchObject({ id, revokedAt: expect.any(String) });
    for (const answer of [
      await admin.post(`${KEYS}/${id}/rotate`, {}),
      await patch(id, { name: 'x', expiresAt: null }),
      await patch(id, { disabled: true }),
      await patch(id, { name: 'x', disabled: false }),
    ]) {
      expect([answer.status, answer.json().code]).toEqual([409, 'key_revoked']);
    }
    // The rejected change has changed nothing.
    expect((await admin.get(`${KEYS}/${id}`)).json().name).toBe('test');
  });

  it('audits the longest name of an admin token', async () => {
    const { service, origin, admin } = started;
    const name = 'a'.repeat(255);
    const longest = new Client(origin, await issueAdminToken(service, name));
    const answer = await longest.post(KEYS, { name: 'Zoo', plan: 'free' });
    expect(answer.status).toBe(201);
    const [record] = (await admin.get(`/admin/v1/audit?key=${answer.json().id}`)).json();
    expect(record.actor).toEqual({ type: 'admin', name: `admin:${name}` });
  });

  it('reports the use of one key and of all keys', async () => {
    const { admin, service } = started;
    const client = await service.client({ plan: 'free', perMinute: undefined, perDay: undefined });
    for (let count = 0; count < 61; count++) await client.get('/v1/pets');
    await saveUsage(service);
    const ofKey = (await admin.get(`${KEYS}/${client.keyId}/usage?hours=1`)).json();
    const usage = (await client.get('/v1/usage')).json();
    const history = (await client.get('/v1/usage/history?hours=1')).json();
    const rejected = history.rejected.map((group: object) => ({ ...group, keyId: client.keyId }));
    expect(history.rejected).toHaveLength(1);
    expect(ofKey).toEqual({ ...usage, ...history, rejected });
    expect(ofKey.hours[0].codes).toEqual({ ok: 60, rate_limit_exceeded: 1 });
    const all = (await admin.get('/admin/v1/usage?hours=1')).json();
    const hour = Math.floor(clock.now() / 3_600_000);
    const startsAt = new Date(hour * 3_600_000).toISOString();
    expect(all.hours).toContainEqual({ startsAt, plan: 'free', admitted: 60, rejected: 1 });
    expect(Object.keys(all).sort()).toEqual(['banned', 'expiring', 'hours', 'nearLimit']);
    // The plan of these requests, not the plan of the key now.
    await patch(client.keyId!, { plan: 'pro' });
    expect((await admin.get('/admin/v1/usage?hours=1')).json().hours).toEqual(all.hours);
    // A rejected address consumes no quota.
    const elsewhere = await service.client({
      plan: 'business',
      perMinute: undefined,
      perDay: undefined,
      allowedFrom: ['203.0.113.1'],
    });
    expect((await elsewhere.get('/v1/pets')).status).toBe(403);
    await saveUsage(service);
    const { hours } = (await admin.get('/admin/v1/usage?hours=1')).json();
    expect(hours).toContainEqual({ startsAt, plan: 'business', admitted: 0, rejected: 0 });
    expect(all).toMatchObject({ banned: expect.any(Number), expiring: expect.any(Number) });
  });

  it('filters the audit trail by action and actor, and by a key with its predecessors', async () => {
    const { admin, service, origin } = started;
    const cleo = new Client(origin, await issueAdminToken(service, 'cleo'));
    const auditOf = async (query: string): Promise<{ action: string; target: string }[]> =>
      (await admin.get(`/admin/v1/audit?${query}`)).json();
    const first = (await cleo.post(KEYS, { name: 'Zoo', plan: 'free' })).json().id;
    const rotate = async (id: string) => (await cleo.post(`${KEYS}/${id}/rotate`, {})).json().id;
    const second = await rotate(first);
    await patch(first, { name: 'Old' });
    const third = await rotate(second);
    await patch(third, { disabled: true });

    const chain = await auditOf(`key=${third}`);
    expect(chain.map(({ action, target }) => [action, target])).toEqual([
      ['key.disable', third],
      ['key.rotate', second],
      ['key.rename', first],
      ['key.rotate', first],
      ['key.issue', first],
    ]);
    expect(await auditOf(`key=${second}`)).toEqual(chain.slice(1));
    expect(await auditOf(`key=${first}`)).toEqual(chain.slice(2));
    expect(await auditOf(`key=${third}&action=key.rotate`)).toEqual([chain[1], chain[3]]);
    expect(await auditOf(`key=${third}&actor=admin:ann`)).toEqual([chain[0], chain[2]]);
    expect(await auditOf('actor=admin%3Acleo')).toEqual([chain[1], chain[3], chain[4]]);
    expect(await auditOf('actor=admin:cleo&action=key.issue')).toEqual([chain[4]]);
    expect(await auditOf('actor=nobody')).toEqual([]);
    const page = await admin.get('/admin/v1/audit?actor=admin:cleo&limit=2');
    expect(page.json()).toEqual([chain[1], chain[3]]);
    expect((await admin.get(nextOf(page)!)).json()).toEqual([chain[4]]);
    // The command line prints the rotation that created the key, and no other predecessor.
    expect(await petstore('keys', 'audit', third)).toEqual(chain.slice(0, 2));
  });

  it('has the changes of a key in the order in which they took effect', async () => {
    const { admin } = started;
    const { id } = await issue({ name: 'name' });
    const names = Array.from({ length: 12 }, (_, index) => `name ${index}`);
    await Promise.all(names.map((name) => patch(id, { name, disabled: name.endsWith('1') })));
    const records = (await admin.get(`/admin/v1/audit?key=${id}&action=key.rename`)).json();
    expect(records).toHaveLength(12);
    const [{ after: latest }] = records;
    expect((await admin.get(`${KEYS}/${id}`)).json().name).toBe(latest.name);
    for (const [index, { before }] of records.entries()) {
      expect(before.name).toBe(records[index + 1]?.after.name ?? 'name');
    }
  });

  it('pages the audit trail, the latest first', async () => {
    const { admin } = started;
    const all = (await admin.get('/admin/v1/audit?limit=100')).json();
    const first = await admin.get('/admin/v1/audit?limit=2');
    const second = await admin.get(nextOf(first)!);
    expect([...first.json(), ...second.json()]).toEqual(all.slice(0, 4));
  });

  it.each([
    ['POST', '', {}, ['name is required', 'plan is required']],
    [
      'POST',
      '',
      { name: ' ', plan: 'Gold', perMinute: 1, scopes: [''], expiresAt: '2020-01-01', x: 1 },
      ['"x" is', 'name must', 'plan must', 'perMinute must', 'scopes must', 'expiresAt must'],
    ],
    ['POST', '', { name: 'x', plan: 'enterprise', perDay: 0 }, ['perMinute is', 'perDay must']],
    ['POST', '', { name: 'psk_00000000000000000000000', plan: 'free' }, ['name must']],
    ['POST', '', { name: '\u200b', plan: 'free' }, ['name must be 1 to 255 printable']],
    ['PATCH', '/ID', { name: '\u2800\u3164' }, ['name must']],
    ['POST', '', { name: 'x', plan: 'gold' }, ['unknown plan gold; plans are free,']],
    ['POST', '', { name: 'x', plan: 'free', scopes: ['no:pe'] }, ['unknown scope no:pe;']],
    ['POST', '', { name: 'x', plan: 7, scopes: 'pets:read' }, ['plan must', 'scopes must']],
    ['PATCH', '/ID', { plan: 'gold' }, ['unknown plan gold;']],
    ['PATCH', '/ID', { scopes: ['pets:read', 'no:pe'] }, ['unknown scope no:pe;']],
    ['PATCH', '/ID', { scopes: ['nope'] }, ['unknown scope nope;']],
    ['PATCH', '/ID', { scopes: ['pets:read', 'pets:read'] }, ['scopes must']],
    [
      'POST',
      '',
      { name: 'x', plan: 'enterprise', perMinute: 1, perDay: 10 ** 12 + 1 },
      ['perDay must be an integer between 1 and 1000000000000 with the plan enterprise'],
    ],
    ['PATCH', '/ID', { perMinute: 5, disabled: 'yes' }, ['perMinute must', 'disabled must']],
    ['PATCH', '/ID', { allowedFrom: ['10.0.0.1/33'], name: '' }, ['allowedFrom must', 'name must']],
    ['PATCH', '/ID', { allowedFrom: null }, ['allowedFrom must be a list of at most 50 IP']],
    ['PATCH', '/ID', { allowedFrom: '10.0.0.1' }, ['allowedFrom must be a list']],
    ['POST', '', { name: 'x', plan: 'free', allowedFrom: ['any'] }, ['allowedFrom must']],
    ['PATCH', '/ID', { name: null, scopes: [] }, ['name must', 'scopes must']],
    ['POST', '/ID/rotate', { graceSeconds: -1 }, ['graceSeconds must']],
    [
      'GET',
      '?limit=101&plan=Gold&status=gone&search=&idleDays=0&neverUsed=1&after=%00&x=1',
      undefined,
      ['"x" is', 'limit', 'plan', 'status', 'search', 'idleDays', 'neverUsed', 'after'],
    ],
    ['GET', '?plan=gold', undefined, ['unknown plan gold;']],
    ['GET', '?after=key_nope', undefined, ['after must be']],
    ['GET', '/ID?x=1', undefined, ['"x" is']],
    ['GET', '/ID/usage?hours=169', undefined, ['hours must']],
    ['GET', '/../audit?before=aud_nope', undefined, ['before must be']],
    [
      'GET',
      '/../audit?action=key.fly&actor=%01&key=%20&limit=0',
      undefined,
      ['action must be', 'actor must be', 'key must be', 'limit must be'],
    ],
    ['GET', '/../audit?actor=psk_1', undefined, ['actor must be']],
  ] as const)('names every fault of %s %s %j', async (method, path, body, faults) => {
    const { id } = await issue();
    const target = `${KEYS}${path.replace('ID', id)}`.replace('/keys/..', '');
    const { admin } = started;
    const answer =
      body === undefined ? await admin.get(target) : await admin.post(target, body, {}, method);
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
    for (const fault of faults) expect(answer.json().message).toContain(fault);
  });

  it('responds with 404 for an unknown key, 405 with Allow, and 415', async () => {
    const { admin } = started;
    for (const path of ['/nope', '/%00', '/nope/usage', `/${'x'.repeat(99)}`]) {
      const answer = await admin.get(KEYS + path);
      expect([answer.status, answer.json().code]).toEqual([404, 'not_found']);
    }
    for (const action of ['rotate', 'revoke', 'unban']) {
      expect((await admin.post(`${KEYS}/nope/${action}`, {})).status).toBe(404);
    }
    const wrong = await admin.put(KEYS, {});
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    const text = await admin.post(KEYS, '{}', { 'content-type': 'text/plain' });
    expect(text.status).toBe(415);
    expect((await admin.send(KEYS, { method: 'HEAD' })).status).toBe(200);
  });

  it('marks every response as private, and sends no rate-limit headers to its callers', async () => {
    for (const path of [KEYS, `${KEYS}/nope`, '/nope', '/', '/openapi.json', `${KEYS}?x=1`]) {
      const { headers } = await started.admin.get(path, { 'x-request-id': 'id-1' });
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': 'id-1',
      });
      for (const name of RATE_HEADERS) expect(headers).not.toHaveProperty(name);
    }
  });

  it('rejects every token that is not valid, and a revoked one within a second', async () => {
    const { origin, service, admin } = started;
    const key = (await issue()).key as string;
    const withToken = (token?: string): Client => new Client(origin, token);
    const missing = await withToken().get(KEYS);
    expect([missing.status, missing.json().code]).toEqual([401, 'missing_api_key']);
    expect(missing.headers['www-authenticate']).toBe('Bearer realm="pet-store"');
    for (const token of [key, 'psa_x', `psa_${'0'.repeat(49)}`, `${admin.key}x`]) {
      const answer = await withToken(token).post(KEYS, 'no json');
      expect([answer.status, answer.json().code]).toEqual([401, 'invalid_api_key']);
    }
    const second = withToken(await issueAdminToken(service, 'bob'));
    expect((await second.get(KEYS)).status).toBe(200);
    const tokens = await petstore('admin', 'list');
    const { id } = tokens.find(({ name }: { name: string }) => name === 'bob');
    expect(tokens[0]).toEqual({
      id: expect.stringMatching(/^adm_/),
      name: expect.any(String),
      role: 'operator',
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: null,
      revokedAt: null,
    });
    await petstore('admin', 'revoke', id);
    expect((await second.get(KEYS)).status).toBe(401);
    expect(await actionsOf(id)).toEqual(['admin.revoke', 'admin.issue']);
    await petstore('admin', 'revoke', id);
    expect(await actionsOf(id)).toHaveLength(2);
    const [record] = (await admin.get(`/admin/v1/audit?key=${id}`)).json();
    expect(record.before).toEqual({ revokedAt: null });
    const terms = { role: 'operator', expiresAt: null };
    expect(record.after).toEqual({ revokedAt: expect.stringMatching(/Z$/), ...terms });
    await expect(petstore('admin', 'revoke', 'adm_x')).rejects.toThrow('adm_x');
    const issued = await petstore('admin', 'issue', '--name', 'Eve');
    expect(Object.keys(issued).sort()).toEqual(['expiresAt', 'id', 'name', 'role', 'token']);
    expect(issued.token).toMatch(/^psa_[0-9A-Za-z]{49}$/);
    expect((await withToken(issued.token).get(KEYS)).status).toBe(200);
  });

  it('lets a viewer only read, and an operator change keys', async () => {
    const { origin, service, admin } = started;
    const viewer = new Client(origin, await issueAdminToken(service, 'vic', { role: 'viewer' }));
    const { id } = await issue();
    const reads = [KEYS, `${KEYS}/${id}`, `${KEYS}/${id}/usage`, '/admin/v1/usage'];
    for (const path of [...reads, '/admin/v1/audit']) {
      const { status, headers } = await viewer.get(path);
      expect([path, status, headers['x-admin-role']]).toEqual([path, 200, 'viewer']);
    }
    expect((await viewer.send(KEYS, { method: 'HEAD' })).status).toBe(200);
    const changes = ['rotate', 'revoke', 'unban'].map((action) => `${KEYS}/${id}/${action}`);
    const rejected = await Promise.all([
      ...[KEYS, ...changes].map((path) => viewer.post(path, {})),
      viewer.post(`${KEYS}/${id}`, { disabled: true }, {}, 'PATCH'),
    ]);
    for (const answer of rejected) {
      expect([answer.status, answer.json().code]).toEqual([403, 'insufficient_scope']);
      expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"');
    }
    expect(await actionsOf(id)).toEqual(['key.issue']);
    const { status, headers } = await admin.post(`${KEYS}/${id}/unban`, {});
    expect([status, headers['x-admin-role']]).toEqual([200, 'operator']);
  });

  it('rejects a token from its expiry on, and records role and expiry', async () => {
    const { origin, admin } = started;
    const expiresAt = new Date(clock.now() + DAY_MS).toISOString();
    const argv = ['--name', 'Fay', '--role', 'viewer', '--expires-at', expiresAt];
    const { id, token, ...terms } = await petstore('admin', 'issue', ...argv);
    expect(terms).toEqual({ name: 'Fay', role: 'viewer', expiresAt });
    const listed = (await petstore('admin', 'list')).find((each: { id: string }) => each.id === id);
    expect(listed).toMatchObject({ role: 'viewer', expiresAt });
    const fay = new Client(origin, token);
    clock.advance(DAY_MS - 1);
    expect((await fay.get(KEYS)).status).toBe(200);
    clock.advance(1);
    const answer = await fay.get(KEYS);
    expect([answer.status, answer.json().code]).toEqual([401, 'invalid_api_key']);
    await petstore('admin', 'revoke', id);
    const records = (await admin.get(`/admin/v1/audit?key=${id}`)).json();
    expect(records.map(({ after }: { after: object }) => after)).toEqual([
      { revokedAt: expect.stringMatching(/Z$/), role: 'viewer', expiresAt },
      { name: 'Fay', role: 'viewer', expiresAt },
    ]);
  });

  it('stores no token', async () => {
    if (onPostgres) return;
    const { readFileSync } = await import('node:fs');
    const path = started.service.config.databaseUrl.replace('sqlite:', '');
    for (const file of [path, `${path}-wal`]) {
      expect(readFileSync(file).includes(started.admin.key!)).toBe(false);
    }
  });

  it('limits wrong tokens by address, and admits a valid one all the same', async () => {
    const wrong = { authorization: `Bearer psa_${'1'.repeat(49)}` };
    const { origin, admin } = started;
    const attacker = new Client(origin);
    let answer = await attacker.get(KEYS, wrong);
    for (let count = 0; count < 70 && answer.status === 401; count++) {
      answer = await attacker.get(KEYS, wrong);
    }
    expect([answer.status, answer.json().code]).toEqual([429, 'rate_limit_exceeded']);
    expect(answer.headers['retry-after']).toBeDefined();
    expect((await admin.get(KEYS)).status).toBe(200);
  });
});

async function insertKeys(dataSource: DataSource, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `key_${index}`,
    clientId: `key_${index}`,
    name: `n${index}`,
    digest: `d${index}`,
    lastFour: 'last',
    plan: 'free',
    scopes: 'pets:read',
    createdAt: index,
    changedAt: index,
  }));
  for (let start = 0; start < count; start += 500) {
    await dataSource.manager.insert('ApiKey', rows.slice(start, start + 500));
  }
}

describe('5,000 keys', () => {
  const started = useAdminService();

  it('are listed, searched and paged', async () => {
    const { admin, service } = started;
    await insertKeys(service.store.app.get(DataSource), 5_000);
    const page = await admin.get(`${KEYS}?limit=100`);
    const next = await admin.get(nextOf(page)!);
    const found = await admin.get(`${KEYS}?search=n4999`);
    expect(next.json()).toHaveLength(100);
    expect(next.json()[0].id).not.toBe(page.json()[0].id);
    expect(found.json()).toHaveLength(1);
  });
});
