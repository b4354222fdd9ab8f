import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { runInProcess as run } from '../../test/support/run-program.js';
import { runProgram } from './program.js';

/** In this process; the same commands are run as a real program in `test/cli`. */
describe(runProgram.name, () => {
  const environment = { ...process.env };
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-program-'));
    process.env['DATABASE_URL'] = `sqlite:${directory}/petstore.db`;
  });
  afterEach(() => {
    process.env = { ...environment };
    rmSync(directory, { recursive: true });
  });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects it to be
  async function json(...argv: string[]): Promise<any> {
    const { code, out, err } = await run(...argv, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out) as unknown;
  }

  const issue = (...options: string[]) =>
    json('keys', 'issue', '--name', 'Zoo', ...(options.length > 0 ? options : ['--plan', 'free']));

  it.each([
    [['nope'], /unknown command 'nope'; petstore --help lists them/],
    [['migarte'], /unknown command 'migarte'; did you mean petstore migrate\?/],
    [['keys', 'isue'], /unknown command 'isue'; did you mean petstore keys issue\?/],
    [['kyes', 'list'], /unknown command 'kyes'; did you mean petstore keys\?/],
    [['serv', '--no-demo'], /unknown command 'serv'; did you mean petstore serve\?/],
    [['keys', 'lsit', '--plan', 'pro'], /unknown command 'lsit'; did you mean petstore keys list/],
    [['--vesion'], /unknown option '--vesion'; did you mean petstore --version\?/],
    [['--json', 'keys', 'list'], /unknown option '--json'; petstore --help/],
    [['keys', 'issue', '--nmae', 'x'], /unknown option '--nmae' \(Did you mean --name\?\)/],
    [
      ['keys', 'issue'],
      /^error: '--plan <plan>' and '--name <label>' must be given; petstore keys issue/,
    ],
    [['keys', 'list', '--pln', 'pro'], /unknown option '--pln' \(Did you mean --plan\?\)/],
    [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
    [['keys'], /a command is missing; petstore keys --help/],
    [['keys', 'nope'], /unknown command 'nope'/],
    [['serve', 'x'], /too many arguments/],
    [['serve', '--workers', '2'], /unknown option '--workers'/],
    [['keys', 'issue', '--plan', 'free'], /--name/],
    [['keys', 'issue', '--name', ' ', '--plan', 'free'], /printable characters/],
    [['keys', 'issue', '--name', 'x', '--plan', 'gold'], /Allowed choices are free, pro/],
    [['keys', 'issue', '--name', 'x', '--plan', 'free', '--scopes', 'all'], /comma list/],
    [['keys', 'issue', '--name', 'x', '--plan', 'free', '--expires-at', 'soon'], /ISO 8601/],
    [['keys', 'issue', '--name', 'x', '--plan', 'free', '--expires-at', '2020-01-01'], /the past/],
    [
      ['keys', 'issue', '--name', 'x', '--plan', 'free', '--scopes', 'orders:write'],
      /orders:write/,
    ],
    [['keys', 'set-scopes', 'x', '--scopes', 'pets:delete'], /Nobody declares .* pets:delete/],
    [['keys', 'set-scopes', 'x'], /--scopes/],
    [['keys', 'list', '--status', 'gone'], /Allowed choices are active, banned/],
    [['keys', 'list', '--limit', '0'], /whole number/],
    [['keys', 'issue', '--name', 'x', '--plan', 'enterprise'], /needs --per-minute and --per-day/],
    [['keys', 'issue', '--name', 'x', '--plan', 'enterprise', '--per-minute', '5'], /needs/],
    [['keys', 'issue', '--name', 'x', '--plan', 'pro', '--per-day', '5'], /takes neither/],
    [['keys', 'issue', '--name', 'x', '--plan', 'pro', '--per-day', '0'], /whole number from 1/],
    [['keys', 'show'], /missing required argument 'id'/],
    [['keys', 'rotate', 'x', '--grace', '1w'], /s, m, h or d/],
    [['keys', 'set-plan', 'x'], /--plan/],
    [['seed'], /--pets/],
    [['seed', '--pets', '-1'], /whole number/],
    [['openapi', '--format', 'xml'], /Allowed choices are json, yaml/],
  ])('answers %j with one line and exit 2', async (argv, complaint) => {
    const { code, out, err } = await run(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(complaint);
    expect(err).toMatch(/^error: [^\n]+\n$/);
  });

  it.each([
    [],
    ['--help'],
    ['help'],
    ['help', 'keys'],
    ['keys', '--help'],
    ['keys', 'issue', '--help'],
  ])('explains itself with examples, and exits 0: %s %s %s', async (...argv) => {
    const { code, out, err } = await run(...argv.filter(Boolean));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Usage: petstore[^]*\n\nExamples:\n {2}petstore /);
  });

  it('tells defaults as people say them', async () => {
    expect((await run('keys', 'rotate', '--help')).out).toMatch(/--grace[^]*\(default: 24h\)/);
  });

  it('tells its version', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: '1.0.0\n', err: '' });
  });

  it.each(['show', 'usage', 'revoke', 'unban', 'rotate'])(
    'answers keys %s of an unknown key with one line and exit 1',
    async (command) => {
      await run('migrate');
      const { code, out, err } = await run('keys', command, 'key_nobody');
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toBe('error: There is no key with the id key_nobody\n');
    },
  );

  it.each([['list'], ['issue', '--name', 'x', '--plan', 'free'], ['show', 'key_nobody']])(
    'makes no database for keys %s, and says so',
    async (...argv) => {
      const { code, out, err } = await run('keys', ...argv);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^error: There is no database at [^\n]+ see DATABASE_URL\n$/);
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it('issues keys with what they were asked to have', async () => {
    await run('migrate');
    const plan = ['--plan', 'enterprise', '--per-minute', '5', '--per-day', '7'];
    const more = ['--scopes', 'pets:read, pets:write', '--expires-at', '2031-01-02T03:04:05+01:00'];
    expect(await issue(...plan, ...more)).toMatchObject({
      plan: 'enterprise',
      perMinute: 5,
      perDay: 7,
      scopes: ['pets:read', 'pets:write'],
      expiresAt: '2031-01-02T02:04:05.000Z',
    });
  });

  it('speaks to people as well', async () => {
    expect((await run('migrate')).out).toMatch(/^Ran CreateSchema1764633600000\.\n$/);
    expect((await run('keys', 'list')).out).toBe('There are no keys.\n');
    const issued = await run('keys', 'issue', '--name', 'Zoo', '--plan', 'pro');
    expect(issued.out).toMatch(/^psk_\w{49}\n\nThe key of Zoo \(key_\w+, plan pro\)/);
    const [{ id, last4 }] = await json('keys', 'list');
    expect((await run('keys', 'list')).out).toMatch(new RegExp(`${id} +\\.\\.\\.${last4} +Zoo`));
    expect((await run('keys', 'show', id)).out).toMatch(/Plan +pro \(300 a minute, 10000 a day\)/);
    expect((await run('keys', 'usage', id)).out).toMatch(/minute +0 +300 +300 /);
    expect((await run('keys', 'rotate', id, '--grace', '1h')).out).toMatch(
      new RegExp(`^psk_[^]*It replaces ${id}, which ends at 20`),
    );
    expect((await run('keys', 'show', id)).out).toMatch(/Replaced by +key_/);
    expect((await run('keys', 'set-plan', id, '--plan', 'free')).out).toMatch(/Plan +free/);
    expect((await run('keys', 'unban', id)).out).toBe(`The ban of ${id} is over.\n`);
    expect((await run('keys', 'revoke', id)).out).toBe(`Revoked ${id}.\n`);
    expect((await run('keys', 'list')).out).toMatch(/pro|free +revoked/);
    expect((await run('seed', '--pets', '7')).out).toMatch(/^Added 7 animals in [\d.]+ s\.\n$/);
    expect((await run('migrate')).out).toBe('The schema is up to date.\n');
  });

  it('rotates to a key of the same client, and revokes for good', async () => {
    await run('migrate');
    const { id } = await issue('--plan', 'business');
    const fresh = await json('keys', 'rotate', id, '--grace', '2h');
    expect(fresh).toMatchObject({ name: 'Zoo', plan: 'business', expiresAt: null });
    const old = await json('keys', 'show', id);
    expect(Date.parse(old.expiresAt) - Date.now()).toBeGreaterThan(7_000_000);
    expect(Date.parse(old.expiresAt) - Date.now()).toBeLessThanOrEqual(7_200_000);
    expect(await run('keys', 'rotate', id)).toEqual({
      ...{ code: 1, out: '', err: `error: The key ${id} is replaced already, by ${fresh.id}\n` },
    });
    const revoked = await json('keys', 'revoke', fresh.id);
    expect((await json('keys', 'revoke', fresh.id)).revokedAt).toBe(revoked.revokedAt);
    expect((await run('keys', 'rotate', fresh.id)).err).toMatch(/is revoked/);
  });

  it('never lengthens a key that expires by rotating it, and agrees on its end with the new one', async () => {
    await run('migrate');
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = await issue('--plan', 'free', '--expires-at', expiresAt);
    const fresh = await json('keys', 'rotate', id, '--grace', '24h');
    expect(fresh).toMatchObject({ expiresAt, replaces: { id, expiresAt } });
    const last = await json('keys', 'rotate', fresh.id, '--grace', '0s');
    expect(last.expiresAt).toBe(expiresAt);
    expect(Date.parse(last.replaces.expiresAt)).toBeLessThanOrEqual(Date.now());
  });

  it('finds keys by what they are', async () => {
    await run('migrate');
    const [zoo, ark, moon] = [
      await json('keys', 'issue', '--name', 'Zoo 100%', '--plan', 'free'),
      await json('keys', 'issue', '--name', 'The ark', '--plan', 'pro'),
      await json('keys', 'issue', '--name', 'x'.repeat(200), '--plan', 'pro'),
    ];
    await json('keys', 'revoke', moon.id);
    const found = async (...filter: string[]) =>
      (await json('keys', 'list', ...filter)).map(({ id }: { id: string }) => id);
    expect(await found()).toEqual([zoo.id, ark.id, moon.id]);
    expect(await found('--plan', 'pro')).toEqual([ark.id, moon.id]);
    expect(await found('--status', 'active')).toEqual([zoo.id, ark.id]);
    expect(await found('--status', 'revoked')).toEqual([moon.id]);
    expect(await found('--status', 'expired')).toEqual([]);
    expect(await found('--status', 'banned')).toEqual([]);
    expect(await found('--search', 'zOO 100%')).toEqual([zoo.id]);
    expect(await found('--search', '%')).toEqual([zoo.id]);
    expect(await found('--search', ark.id)).toEqual([ark.id]);
    expect(await found('--limit', '1', '--after', zoo.id)).toEqual([ark.id]);
    expect(await found('--never-used')).toEqual([zoo.id, ark.id]);
    expect(await found('--idle', '1')).toEqual([]);
    expect(await found('--expires-within', '1')).toEqual([]);
    expect((await run('keys', 'list', '--after', 'key_nobody')).code).toBe(1);
    const lines = (await run('keys', 'list', '--limit', '2')).out.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toContain(`--after ${ark.id}`);
    for (const line of (await run('keys', 'list')).out.split('\n')) {
      expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  it('changes what a key allows', async () => {
    await run('migrate');
    const { id } = await issue();
    expect(await json('keys', 'set-scopes', id, '--scopes', 'pets:read')).toMatchObject({
      scopes: ['pets:read'],
    });
  });

  it('tells no use where Redis, which alone knows it, is away', async () => {
    await run('migrate');
    const { id } = await issue();
    process.env['REDIS_URL'] = 'redis://127.0.0.1:1';
    const { code, out, err } = await run('keys', 'usage', id, '--json');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe('error: Redis does not answer: what was used cannot be known\n');
  });

  it('changes the plan of every key of a client', async () => {
    await run('migrate');
    const { id } = await issue();
    const { id: other } = await json('keys', 'rotate', id);
    await json(
      'keys',
      'set-plan',
      id,
      '--plan',
      'enterprise',
      '--per-minute',
      '9',
      '--per-day',
      '99',
    );
    expect(await json('keys', 'show', other)).toMatchObject({ plan: 'enterprise', perMinute: 9 });
    await json('keys', 'set-plan', other, '--plan', 'free');
    expect(await json('keys', 'show', id)).toMatchObject({ plan: 'free', perMinute: 60 });
    expect((await run('keys', 'set-plan', id, '--plan', 'enterprise')).code).toBe(2);
  });

  it('never overwrites a database that another server uses, and nothing unasked but a backup', async () => {
    await run('migrate');
    const ours = process.env['DATABASE_URL'];
    const other = join(directory, 'other.db');
    process.env['DATABASE_URL'] = `sqlite:${other}`;
    await run('migrate');
    process.env['DATABASE_URL'] = ours;

    const live = new Sqlite(other);
    live.pragma('journal_mode = WAL');
    live.exec('CREATE TABLE theirs (id integer); INSERT INTO theirs VALUES (7)');
    const files = readdirSync(directory);
    const bytes = () => ['', '-wal'].map((suffix) => readFileSync(other + suffix, 'base64'));
    const before = bytes();
    for (const yes of [[], ['--yes']]) {
      const { code, err } = await run('backup', other, ...yes);
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringMatching(
          /^error: [^\n]+other\.db is a database that somebody uses, or did/,
        ),
      });
    }
    expect(bytes()).toEqual(before);
    expect(readdirSync(directory)).toEqual(files);
    live.close();
    // Closed in order, nothing is beside it: it is a database all the same, and no backup.
    expect((await run('backup', other)).err).toMatch(/is no backup; --yes overwrites it\n$/);
    expect(readdirSync(directory).filter((name) => name.startsWith('other'))).toEqual(['other.db']);
    expect((await run('backup', other, '--yes')).code).toBe(0);
    expect((await run('backup', other)).code).toBe(0);

    for (const suffix of ['-journal', '-wal', '-shm', '-server']) {
      writeFileSync(other + suffix, '');
      expect((await run('backup', other, '--yes')).err).toContain(`as ${other}${suffix} tells`);
      rmSync(other + suffix);
    }
    writeFileSync(`${directory}/gone.db-wal`, '');
    expect((await run('backup', `${directory}/gone.db`)).code).toBe(1);
  });

  it('prints the document, and migrates an empty database', async () => {
    expect(JSON.parse((await run('openapi')).out)).toMatchObject({ openapi: '3.1.0' });
    expect((await run('openapi', '--format', 'yaml')).out).toMatch(/^openapi: 3.1.0$/m);
    expect((await run('migrate')).out).toMatch(/^Ran CreateSchema1764633600000\.\n$/);
  });

  it('names every fault of the configuration and exits 1', async () => {
    process.env['PORT'] = 'x';
    process.env['LOG_LEVEL'] = 'loud';
    const { code, err } = await run('keys', 'list');
    expect(code).toBe(1);
    expect(err).toMatch(/PORT must be[^]*LOG_LEVEL must be/);
  });

  it.each([
    ['postgres://nobody@127.0.0.1:1/none', /database cannot be reached \(ECONNREFUSED\)/],
    ['sqlite:/dev/null/petstore.db', /^error: /],
  ])('says that %s cannot be opened, and exits 1', async (url, complaint) => {
    process.env['DATABASE_URL'] = url;
    const { code, err } = await run('keys', 'list');
    expect(code).toBe(1);
    expect(err).toMatch(complaint);
    expect(err.trim()).not.toContain('\n');
  });
});
