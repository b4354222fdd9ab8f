import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { runInProcess as run } from '../../test/support/run-program.js';
import { assertManifests } from '../extensions/check.js';
import { runProgram } from './program.js';

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

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test asserts the shape
  async function json(...argv: string[]): Promise<any> {
    const { code, out, err } = await run(...argv, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out) as unknown;
  }

  const FREE = ['keys', 'issue', '--name', 'x', '--plan', 'free'];
  const EXPORT = ['usage', 'export', '--from', '2030-01-01', '--to', '2030-01-02'];
  const ENTERPRISE = ['keys', 'issue', '--name', 'x', '--plan', 'enterprise'];

  it.each([
    [['nope'], /unknown command 'nope'/],
    [['migarte'], /unknown command 'migarte' \(Did you mean migrate\?\)/],
    [['keys', 'isue'], /unknown command 'isue' \(Did you mean issue\?\)/],
    [['completion', 'bash'], /unknown command 'completion'/],
    [['keys'], /missing command; see petstore --help/],
    [['--vesion'], /unknown option '--vesion'/],
    [['--json', 'keys', 'list'], /unknown option '--json'/],
    [['serve', 'x'], /too many arguments/],
    [['serve', '--workers', '2'], /unknown option '--workers'/],
    [['keys', 'list', '--pln', 'pro'], /unknown option '--pln' \(Did you mean --plan\?\)/],
    [['keys', 'issue', '--plan', 'free'], /required option '--name <label>' not specified/],
    [['keys', 'issue', '--name', ' ', '--plan', 'free'], /printable characters/],
    [['keys', 'issue', '--name', '\u200b', '--plan', 'free'], /one of them visible/],
    [['keys', 'rename', 'x', '--name', '\u2060\u00ad'], /one of them visible/],
    [['admin', 'issue', '--name', '\u3164'], /one of them visible/],
    [['admin', 'issue', '--name', 'Ann', '--role', 'root'], /operator, viewer/],
    [['admin', 'issue', '--name', 'Ann', '--expires-at', '2020-01-01'], /not in the past/],
    [['keys', 'issue', '--name', '\u001b[2J', '--plan', 'free'], /'\\u001b\[2J' is invalid/],
    [[...FREE, '--scopes', 'pets:read,'], /comma-separated list/],
    [[...FREE, '--scopes', 'all'], /unknown scope all/],
    [[...FREE, '--expires-at', '2020-01-01'], /in the past/],
    [['keys', 'set-scopes', 'x'], /--scopes/],
    [['keys', 'set-plan', 'x'], /--plan/],
    [['keys', 'list', '--status', 'gone'], /Allowed choices are active, banned/],
    [['keys', 'list', '--limit', '0'], /integer between 1 and/],
    [['keys', 'audit', '--limit', '0'], /integer between 1 and/],
    [['keys', 'list', '--idle', '36501'], /between 1 and 36500/],
    [['keys', 'show'], /missing required argument 'id'/],
    [['keys', 'rotate', 'x', '--grace', '1w'], /s, m, h or d/],
    [['seed'], /--pets/],
    [['backup'], /missing required argument 'file'/],
    [['backup', ''], /must be a file path/],
    [['backup', '-', '--json'], /excludes --json/],
    [['restore', ' '], /must be a file path/],
    [['keys', 'list', '--config', ''], /option '--config <file>' argument '' is invalid\. It must/],
    [['keys', 'list', '--config='], /must be a file path/],
    [['copy'], /required option '--to <url>' not specified/],
    [['copy', '--to', 'sqlite:'], /--to must be sqlite:PATH/],
    [['usage'], /missing command/],
    [['usage', 'export', '--to', '2030-01-01'], /required option '--from <iso8601>'/],
    [['usage', 'export', '--from', '2030-02-30', '--to', '2030-03-01'], /ISO 8601 date/],
    [['usage', 'export', '--from', '2030-01-01T10:30:00Z', '--to', '2031-01-01'], /a full hour/],
    [['usage', 'export', '--from', '2030-01-01T10:00', '--to', '2031-01-01'], /with its zone/],
    [['usage', 'export', '--from', '2030-01-01', '--to', '2030-01-01'], /--from must be before/],
    [[...EXPORT, '--format', 'xml'], /Allowed choices are csv, ndjson/],
    [[...EXPORT, '--format', 'csv', '--json'], /cannot be used with option '--json'/],
    [['openapi', '--format', 'xml'], /Allowed choices are json, yaml/],
  ])('rejects %j with one line and exit code 2', async (argv, line) => {
    const { code, out, err } = await run(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(line);
    expect(err).toMatch(/^error: [^\p{Cc}]+\n$/u);
  });

  it.each([
    [['keys', 'issue', '--name', 'x', '--plan', 'gold'], /gold; plans are free, pro, business/],
    [['keys', 'list', '--plan', 'gold'], /gold; plans are free, pro, business/],
    [['keys', 'set-plan', 'x', '--plan', 'gold'], /gold; plans are free, pro, business/],
    [[...FREE, '--scopes', 'orders:write'], /orders:write/],
    [[...FREE, '--per-day', '5'], /--per-day/],
    [ENTERPRISE, /--per-minute and --per-day/],
    [[...ENTERPRISE, '--per-minute', '5'], /--per-minute and --per-day/],
    [['keys', 'set-scopes', 'x', '--scopes', 'pets:delete'], /pets:delete/],
  ])(
    'rejects plan, limits and scopes of %j with exit code 2, without a database',
    async (argv, line) => {
      const { code, out, err } = await run(...argv);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toMatch(line);
      expect(err).toMatch(/^error: [^\n]+\n$/);
    },
  );

  it.each([[], ['--help'], ['help', 'keys'], ['keys', '--help'], ['keys', 'issue', '--help']])(
    'prints help with examples: %s %s %s',
    async (...argv) => {
      const { code, out, err } = await run(...argv.filter(Boolean));
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(/^Usage: petstore[^]*\n\nExamples?:\n {2}petstore /);
    },
  );

  it('reserves the names of its commands', async () => {
    const [, list] = (await run('--help')).out.split('\nCommands:\n');
    const names = [...list!.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!);
    expect(names).toEqual(expect.arrayContaining(['serve', 'keys', 'help']));
    for (const name of names.filter((each) => each !== 'petstore')) {
      const commands = [{ name, description: '', run: () => undefined }];
      const extension = { name: 'toys', module: class {}, commands };
      expect(() => assertManifests([extension])).toThrow(`command ${name} is declared twice`);
    }
  });

  it('prints its version', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: '1.0.0\n', err: '' });
  });

  it.each(['show', 'usage', 'revoke', 'unban', 'rotate', 'audit'])(
    'keys %s fails for an unknown key',
    async (command) => {
      await run('migrate');
      const { code, out, err } = await run('keys', command, 'key_nobody');
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^error: [^\n]*key_nobody\n$/);
    },
  );

  it.each([['keys', 'list'], FREE, ['backup', 'x.db']])(
    '%s %s creates no database',
    async (...argv) => {
      const { code, out, err } = await run(...argv);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^error: there is no database at [^\n]+ DATABASE_URL\n$/);
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it.each([['keys', 'list'], FREE, ['backup', 'x.db'], ['migrate'], ['seed', '--pets', '1']])(
    "%s %s does not change another program's database",
    async (...argv) => {
      const file = process.env['DATABASE_URL']!.replace('sqlite:', '');
      new Database(file).exec('CREATE TABLE other (id)').close();
      const before = readFileSync(file);
      const { code, out, err } = await run(...argv);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(
        /^error: [^\n]+ is not a database of this service; set DATABASE_URL [^\n]+\n$/,
      );
      expect(readFileSync(file)).toEqual(before);
    },
  );

  it('prints text for people', async () => {
    expect((await run('migrate')).out).toMatch(/^Ran CreateSchema/);
    expect((await run('migrate')).out).toBe('The schema is up to date.\n');
    expect((await run('keys', 'list')).out).toBe('No keys found.\n');
    const issued = await run('keys', 'issue', '--name', 'Zoo', '--plan', 'pro');
    expect(issued.out).toMatch(/^psk_\w{49}\n$/);
    expect(issued.err).toMatch(/^Key key_\w+ for Zoo, plan pro\. Store it now[^\n]*\n$/);
    const [{ id, last4 }] = await json('keys', 'list');
    expect((await run('keys', 'list')).out).toMatch(
      new RegExp(`${id} +\\.\\.\\.${last4} +pro .* Zoo`),
    );
    expect((await run('keys', 'show', id)).out).toMatch(/plan +pro\n[^]*perMinute +300\n/);
    expect((await run('keys', 'usage', id)).out).toMatch(/minute +0 +300 +300 /);
    const rotated = await run('keys', 'rotate', id, '--grace', '1h');
    expect(rotated.out).toMatch(/^psk_\w{49}\n$/);
    expect(rotated.err).toMatch(new RegExp(`It replaces ${id}, which expires at 20`));
    expect((await run('keys', 'show', id)).out).toMatch(/replacedBy +key_/);
    expect((await run('keys', 'set-plan', id, '--plan', 'free')).out).toMatch(/plan +free/);
    expect((await run('keys', 'unban', id)).out).toMatch(/bannedUntil +none/);
    expect((await run('keys', 'revoke', id)).out).toMatch(/revokedAt +20/);
    expect((await run('keys', 'audit', id)).out).toMatch(/key\.set_plan .*plan: pro -> free/);
    expect((await run('seed', '--pets', '7')).out).toMatch(/^Added 7 sample pets\.\n$/);
  });

  it('finds keys by their properties, page by page', async () => {
    await run('migrate');
    const issue = (name: string, plan: string) =>
      json('keys', 'issue', '--name', name, '--plan', plan);
    const zoo = await issue('Zoo 100%', 'free');
    const ark = await issue('The ark', 'pro');
    const moon = await issue('x'.repeat(200), 'pro');
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
    expect(await found('--search', ark.id)).toEqual([ark.id]);
    expect(await found('--limit', '1', '--after', zoo.id)).toEqual([ark.id]);
    expect(await found('--never-used')).toEqual([zoo.id, ark.id]);
    expect(await found('--idle', '1')).toEqual([]);
    expect(await found('--expires-within', '1')).toEqual([]);
    expect((await run('keys', 'list', '--after', 'key_nobody')).code).toBe(1);
  });

  it('prints the document without a database', async () => {
    expect(JSON.parse((await run('openapi')).out)).toMatchObject({ openapi: '3.1.0' });
    expect((await run('openapi', '--format', 'yaml')).out).toMatch(/^openapi: 3.1.0$/m);
    expect(readdirSync(directory)).toEqual([]);
    expect(readdirSync('.')).not.toContain(':memory:');
  });

  it('prints every fault of the configuration, with exit code 1', async () => {
    process.env['PORT'] = 'x';
    process.env['LOG_LEVEL'] = 'loud';
    const { code, err } = await run('keys', 'list');
    expect(code).toBe(1);
    expect(err).toMatch(/PORT must be[^]*LOG_LEVEL must be/);
  });

  it.each([
    ['postgres://nobody@127.0.0.1:1/none', /^error: PostgreSQL at 127.0.0.1:1 cannot be used/],
    ['sqlite:/dev/null/petstore.db', /^error: /],
  ])('fails with one line if %s cannot be opened', async (url, line) => {
    process.env['DATABASE_URL'] = url;
    const { code, err } = await run('keys', 'list');
    expect(code).toBe(1);
    expect(err).toMatch(line);
    expect(err.trim()).not.toContain('\n');
  });
});
