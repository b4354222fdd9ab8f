import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInProcess } from '../../test/support/run-program.js';

const VIEW = [
  ...['id', 'name', 'plan', 'scopes', 'perMinute', 'perDay', 'last4', 'createdAt', 'expiresAt'],
  ...['revokedAt', 'lastUsedAt', 'bannedUntil', 'clientId', 'replacedBy'],
];
const ISSUED = [
  ...['id', 'key', 'name', 'plan', 'scopes', 'perMinute', 'perDay', 'createdAt', 'expiresAt'],
];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('petstore keys --json', () => {
  const environment = { ...process.env };
  let directory: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects it to be
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

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects it to be
  async function json(...argv: string[]): Promise<any> {
    const { code, out, err } = await runInProcess('keys', ...argv, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out) as unknown;
  }

  it('issue prints what the contract names, in its order, and nothing else', () => {
    expect(Object.keys(zoo)).toEqual(ISSUED);
    expect(zoo).toMatchObject({
      ...{ name: 'Zoo', plan: 'free', perMinute: 60, perDay: 1_000, expiresAt: null },
      ...{ scopes: ['pets:read', 'pets:write'], createdAt: expect.stringMatching(ISO) },
    });
  });

  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('set-plan gives the limits of the plan %s', async (plan, perMinute, perDay) => {
    const view = await json('set-plan', zoo.id, '--plan', plan);
    expect(Object.keys(view)).toEqual(VIEW);
    expect(view).toMatchObject({ id: zoo.id, plan, perMinute, perDay });
  });

  it.each(['--idle', '--expires-within'])('list %s takes no more than 100 years', async (of) => {
    await json('list', of, '36500');
    expect(await runInProcess('keys', 'list', of, '36501')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^error: [^\n]* from 1 to 36500\.\n$/),
    });
  });

  it.each(['show', 'unban'])('%s shows the key, and of its secret the last four', async (name) => {
    const view = await json(name, zoo.id);
    expect(Object.keys(view)).toEqual(VIEW);
    expect(view).toMatchObject({ last4: zoo.key.slice(-4), revokedAt: null, bannedUntil: null });
    expect(JSON.stringify(view)).not.toContain(zoo.key.slice(4, 20));
  });

  it('list shows every key like that', async () => {
    const views = await json('list');
    expect(views).toContainEqual(await json('show', zoo.id));
    expect(JSON.stringify(views)).not.toContain(zoo.key.slice(4, 20));
  });

  it('usage tells both windows and when they reset', async () => {
    const { minute, day, hours, outcomes, refusals, ...key } = await json('usage', zoo.id);
    expect([hours, outcomes, refusals]).toEqual([[], [], []]);
    expect(key).toEqual(await json('show', zoo.id));
    for (const window of [minute, day]) {
      expect(Object.keys(window)).toEqual(['limit', 'used', 'remaining', 'resetAt']);
      expect(window).toMatchObject({ used: 0, remaining: window.limit });
    }
    expect(minute.resetAt).toMatch(/:00\.000Z$/);
    expect(day.resetAt).toMatch(/T00:00:00\.000Z$/);
  });

  it('rotate prints the new key, and lets the old one be for 24 hours where nothing is said', async () => {
    const before = Date.now();
    const fresh = await json('rotate', zoo.id);
    expect(Object.keys(fresh)).toEqual([...ISSUED, 'replaces']);
    expect(fresh).toMatchObject({ name: 'Zoo', expiresAt: null });
    expect(fresh.id).not.toBe(zoo.id);
    const old = await json('show', zoo.id);
    expect(old).toMatchObject({ replacedBy: fresh.id, clientId: zoo.id });
    expect(fresh.replaces).toEqual({ id: zoo.id, expiresAt: old.expiresAt });
    const ends = Date.parse(old.expiresAt) - 86_400_000;
    expect(ends).toBeGreaterThanOrEqual(before);
    expect(ends).toBeLessThanOrEqual(Date.now());
  });

  it('revoke says since when the key is no more', async () => {
    const view = await json('revoke', zoo.id);
    expect(Object.keys(view)).toEqual(VIEW);
    expect(view.revokedAt).toMatch(ISO);
  });
});
