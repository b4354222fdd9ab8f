import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { runInProcess } from '../../test/support/run-program.js';

const ISSUED = 'id key name plan scopes perMinute perDay createdAt expiresAt'.split(' ');
const VIEW = [
  ...'id name plan scopes perMinute perDay last4 createdAt expiresAt'.split(' '),
  ...'revokedAt disabledAt lastUsedAt lastUsedFrom bannedUntil allowedFrom clientId replacedBy'.split(
    ' ',
  ),
];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('petstore keys --json', () => {
  const environment = { ...process.env };
  let directory: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test asserts the shape
  let zoo: any;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-keys-'));
    process.env['DATABASE_URL'] = `sqlite:${directory}/petstore.db`;
    await runInProcess('migrate');
    zoo = await json('issue', '--name', 'Zoo', '--plan', 'free');
  });
  afterAll(() => {
    process.env = { ...environment };
    rmSync(directory, { recursive: true });
  });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test asserts the shape
  async function json(...argv: string[]): Promise<any> {
    const { code, out, err } = await runInProcess('keys', ...argv, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out) as unknown;
  }

  it('issue prints the members of the contract in their order', async () => {
    expect(Object.keys(zoo)).toEqual(ISSUED);
    expect(zoo).toMatchObject({
      ...{ name: 'Zoo', plan: 'free', perMinute: 60, perDay: 1_000, expiresAt: null },
      ...{ key: expect.stringMatching(/^psk_[0-9A-Za-z]{49}$/) },
      ...{ scopes: ['pets:read', 'pets:write'], createdAt: expect.stringMatching(ISO) },
    });
    const limits = ['--plan', 'enterprise', '--per-minute', '5', '--per-day', '7'];
    const more = ['--scopes', 'pets:read', '--expires-at', '2050-01-02T03:04:05+01:00'];
    expect(await json('issue', '--name', 'Ark', ...limits, ...more)).toMatchObject({
      ...{ plan: 'enterprise', perMinute: 5, perDay: 7 },
      ...{ scopes: ['pets:read'], expiresAt: '2050-01-02T02:04:05.000Z' },
    });
  });

  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('set-plan applies the limits of the plan %s', async (plan, perMinute, perDay) => {
    const view = await json('set-plan', zoo.id, '--plan', plan);
    expect(Object.keys(view)).toEqual(VIEW);
    expect(view).toMatchObject({ id: zoo.id, plan, perMinute, perDay });
  });

  it('set-scopes replaces the scopes', async () => {
    expect((await json('set-scopes', zoo.id, '--scopes', 'pets:read')).scopes).toEqual([
      'pets:read',
    ]);
  });

  it('show, unban and list print a key without its secret', async () => {
    for (const view of [await json('show', zoo.id), await json('unban', zoo.id)]) {
      expect(Object.keys(view)).toEqual(VIEW);
      expect(view).toMatchObject({ last4: zoo.key.slice(-4), revokedAt: null, bannedUntil: null });
    }
    const views = await json('list');
    expect(views).toContainEqual(await json('show', zoo.id));
    expect(JSON.stringify(views)).not.toContain(zoo.key.slice(4, 20));
  });

  it('finds a key by the whole key, and repeats it in no output', async () => {
    const shown = await json('show', zoo.id);
    expect(await json('list', '--search', zoo.key)).toEqual([shown]);
    expect(await json('show', zoo.key)).toEqual(shown);
    const unknown = `psk_${'a'.repeat(49)}`;
    const { code, out, err } = await runInProcess('keys', 'show', unknown);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).not.toContain(unknown);
  });

  it('list prints expiry and last use, and the option for the next page', async () => {
    await json('issue', '--name', 'Soon', '--plan', 'free', '--expires-at', '2050-01-02T03:04:05Z');
    const { out } = await runInProcess('keys', 'list');
    expect(out).toMatch(/^ID +KEY +PLAN +STATUS +EXPIRES +LAST USED +NAME\n/);
    expect(out).toMatch(/active +2050-01-02T03:04:05Z +never +Soon\n/);
    expect(out).not.toContain('--after');
    expect((await runInProcess('keys', 'list', '--limit', '1')).out).toMatch(
      new RegExp(`Next page: add --after ${zoo.id}\n$`),
    );
  });

  it('audit names the user behind sudo', async () => {
    process.env['SUDO_USER'] = 'ada';
    const { id } = await json('issue', '--name', 'Ark', '--plan', 'free');
    delete process.env['SUDO_USER'];
    expect((await json('audit', id))[0].actor).toEqual({ type: 'cli', name: 'cli:ada' });
  });

  it('usage prints both windows and when they reset', async () => {
    const { minute, day, outcomes, rejected, ...key } = await json('usage', zoo.id);
    expect([outcomes, rejected]).toEqual([{}, []]);
    expect(key).toEqual(await json('show', zoo.id));
    for (const window of [minute, day]) {
      expect(Object.keys(window)).toEqual(['limit', 'used', 'remaining', 'resetAt']);
      expect(window).toMatchObject({ used: 0, remaining: window.limit });
    }
    expect(minute.resetAt).toMatch(/:00\.000Z$/);
    expect(day.resetAt).toMatch(/T00:00:00\.000Z$/);
  });

  it('audit prints the changes of a key, the latest first, and the account that made them', async () => {
    const { id } = await json('issue', '--name', 'Ark', '--plan', 'free');
    await json('set-plan', id, '--plan', 'pro');
    const by = { actor: { type: 'cli', name: `cli:${userInfo().username}` }, target: id };
    const records = await json('audit', id);
    expect(records).toMatchObject([
      { action: 'key.set_plan', ...by, before: { plan: 'free' }, after: { plan: 'pro' } },
      { action: 'key.issue', ...by, before: null, after: { name: 'Ark', plan: 'free' } },
    ]);
    expect(Object.keys(records[0])).toEqual(
      'id at action actor target address requestId before after'.split(' '),
    );
    expect(await json('audit', '--limit', '1')).toEqual([records[0]]);
  });

  it('usage fails while Redis, which has the counts, is unreachable', async () => {
    process.env['REDIS_URL'] = 'redis://127.0.0.1:1';
    const { code, out, err } = await runInProcess('keys', 'usage', zoo.id, '--json');
    delete process.env['REDIS_URL'];
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error: Redis [^\n]+\n$/);
  });

  it('rotate prints the new key, and keeps the old one for 24 hours by default', async () => {
    const before = Date.now();
    const fresh = await json('rotate', zoo.id);
    expect(Object.keys(fresh)).toEqual([...ISSUED, 'replaces']);
    expect(fresh).toMatchObject({ name: 'Zoo', plan: 'business', expiresAt: null });
    const old = await json('show', zoo.id);
    expect(old).toMatchObject({ replacedBy: fresh.id, clientId: zoo.id });
    expect(fresh.replaces).toEqual({ id: zoo.id, expiresAt: old.expiresAt });
    const ends = Date.parse(old.expiresAt) - 86_400_000;
    expect(ends).toBeGreaterThanOrEqual(before);
    expect(ends).toBeLessThanOrEqual(Date.now());
    const ended = await runInProcess('keys', 'set-expiry', zoo.id, '--expires-at', 'never');
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining(fresh.id) });
    await json('set-plan', fresh.id, '--plan', 'free');
    expect(await json('show', zoo.id)).toMatchObject({ plan: 'free', perMinute: 60 });
  });

  it('disable, enable, rename and set-expiry change a key, and print it', async () => {
    const { id } = await json('issue', '--name', 'Temporary', '--plan', 'free');
    expect((await json('disable', id)).disabledAt).toMatch(ISO);
    expect(await json('list', '--status', 'disabled')).toMatchObject([{ id }]);
    const rotated = await runInProcess('keys', 'rotate', id);
    expect(rotated).toMatchObject({ code: 1, err: expect.stringContaining('disabled') });
    expect(await json('enable', id)).toMatchObject({ disabledAt: null });
    expect(await json('rename', id, '--name', 'Ark')).toMatchObject({ name: 'Ark' });
    const expiresAt = '2050-01-02T02:04:05.000Z';
    expect(await json('set-expiry', id, '--expires-at', expiresAt)).toMatchObject({ expiresAt });
    expect(await json('set-expiry', id, '--expires-at', 'never')).toMatchObject({
      expiresAt: null,
    });
    const past = await runInProcess('keys', 'set-expiry', id, '--expires-at', '2020-01-01');
    expect(past).toMatchObject({ code: 2, out: '' });
    const actions = (await json('audit', id)).map(({ action }: { action: string }) => action);
    expect(actions.sort()).toEqual(
      ['disable', 'enable', 'issue', 'rename', 'set_expiry', 'set_expiry'].map(
        (action) => `key.${action}`,
      ),
    );
  });

  it('issue --from and set-from choose the addresses of a key, which a rotation keeps', async () => {
    const from = ['--from', '203.0.113.7, 2001:DB8:0::/32,::ffff:192.0.2.1,203.0.113.7'];
    const { id } = await json('issue', '--name', 'Ark', '--plan', 'free', ...from);
    const allowedFrom = ['203.0.113.7', '2001:DB8:0::/32', '::ffff:192.0.2.1'];
    expect(await json('show', id)).toMatchObject({ allowedFrom });
    const successor = (await json('rotate', id)).id;
    expect(await json('show', successor)).toMatchObject({ allowedFrom });
    expect(await json('set-from', id, '--from', '10.0.0.0/8')).toMatchObject({
      allowedFrom: ['10.0.0.0/8'],
    });
    expect((await runInProcess('keys', 'set-from', id, '--from', 'any')).out).toMatch(
      /^allowedFrom +any$/m,
    );
    expect(await json('set-from', id, '--from', 'any')).toMatchObject({ allowedFrom: [] });
    const records = await json('audit', id);
    expect(records).toHaveLength(4);
    expect(records).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ action: 'key.set_from', before: { allowedFrom: ['10.0.0.0/8'] } },
          after: { allowedFrom: [] },
        }),
        expect.objectContaining({
          action: 'key.issue',
          after: expect.objectContaining({ allowedFrom: [...allowedFrom].sort() }),
        }),
      ]),
    );
    for (const wrong of ['', 'any,10.0.0.1', 'localhost', '10.0.0.1/33', '10.0.0.1,']) {
      const { code, out, err } = await runInProcess('keys', 'set-from', id, '--from', wrong);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toMatch(/^error: [^\n]*at most 50 IP addresses[^\n]*\n$/);
    }
    expect(await json('show', id)).toMatchObject({ allowedFrom: [] });
  });

  it('rotate never extends a key that expires', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = await json('issue', '--name', 'z', '--plan', 'free', '--expires-at', expiresAt);
    const fresh = await json('rotate', id, '--grace', '24h');
    expect(fresh).toMatchObject({ expiresAt, replaces: { id, expiresAt } });
    const last = await json('rotate', fresh.id, '--grace', '0s');
    expect(last.expiresAt).toBe(expiresAt);
    expect(Date.parse(last.replaces.expiresAt)).toBeLessThanOrEqual(Date.now());
  });

  it('admin issue prints a note if an active token has the name', async () => {
    const issue = async () => {
      const { code, out, err } = await runInProcess('admin', 'issue', '--name', 'ann', '--json');
      expect(code).toBe(0);
      return { id: (JSON.parse(out) as { id: string }).id, err };
    };
    const first = await issue();
    expect(first.err).toBe('');
    const second = await issue();
    expect(second.err).toMatch(/^The active token adm_\w+ has the same name: .*\n$/);
    expect(second.err).toContain(first.id);
    for (const { id } of [first, second]) await runInProcess('admin', 'revoke', id, '--yes');
    expect((await issue()).err).toBe('');
  });

  it('revoke prints when the key was revoked, and changes nothing when repeated', async () => {
    const view = await json('revoke', zoo.id);
    expect(Object.keys(view)).toEqual(VIEW);
    expect(view.revokedAt).toMatch(ISO);
    expect((await json('revoke', zoo.id)).revokedAt).toBe(view.revokedAt);
  });
});
