import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { runInProcess as run } from '../../test/support/run-program.js';
import type { Finding } from './finding.js';

const PAGE_BYTES = 4_096;

describe('petstore doctor', () => {
  const environment = { ...process.env };
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-doctor-'));
    file = join(directory, 'petstore.db');
    Object.assign(process.env, { DATABASE_URL: `sqlite:${file}`, PORT: '0', METRICS_PORT: '0' });
  });
  afterEach(() => {
    process.env = { ...environment };
    rmSync(directory, { recursive: true });
  });

  async function findings(...changes: (() => unknown)[]) {
    await run('migrate');
    for (const change of changes) change();
    const { code, out, err } = await run('doctor', '--json');
    const { status, checks } = JSON.parse(out) as { status: string; checks: Finding[] };
    expect({ code, err }).toEqual({ code: status === 'failed' ? 1 : 0, err: '' });
    return (name: string) => checks.filter(({ check }) => check === name);
  }

  const tomorrow = (): Date => new Date(Date.now() + 86_400_000);
  function damageLastPage(): void {
    new Database(file).exec('PRAGMA wal_checkpoint(TRUNCATE)').close();
    const pages = readFileSync(file);
    writeFileSync(file, pages.fill(0xff, pages.length - PAGE_BYTES));
  }
  const change = (sql: string) => () => new Database(file).exec(sql).close();

  it('finds nothing wrong where nothing is', async () => {
    const of = await findings();
    for (const name of [
      'configuration',
      'database',
      'schema',
      'clock',
      'redis',
      'files',
      'ports',
    ]) {
      expect(of(name)).toEqual([
        { check: name, status: 'ok', detail: expect.any(String), cure: null },
      ]);
    }
    expect(of('disk')).toHaveLength(1);
    expect((await run('doctor')).out).toMatch(/^ok +configuration +valid, with 0 extensions\n/);
  });

  it('makes no database where there is none, and says what does', async () => {
    const { code, out, err } = await run('doctor');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(/^FAILED +database +there is none at .*\n +cure: petstore migrate /m);
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each<[string, string, () => unknown, RegExp, RegExp]>([
    ['failed', 'files', () => chmodSync(file, 0o644), /others can read/, /^chmod 600 /],
    [
      'failed',
      'database',
      () => writeFileSync(file, 'x'.repeat(9_999)),
      /not a database/,
      /restore/,
    ],
    [
      ...(['failed', 'clock'] as const),
      () => utimesSync(file, tomorrow(), tomorrow()),
      ...([/^ours is \d+ ms behind what was written last/, /NTP/] as const),
    ],
    [
      ...(['failed', 'clock'] as const),
      change(`INSERT INTO rate_limit_counters VALUES ('zoo', 99999999, 1, 69444, 1)`),
      ...([/it was set back$/, /NTP/] as const),
    ],
    ['failed', 'database', damageLastPage, /^its file is damaged: .+$/, /^restore a backup/],
    [
      ...(['failed', 'database'] as const),
      () => (rmSync(file), mkdirSync(file)),
      ...([/petstore\.db is not a file: set DATABASE_URL/, /correct DATABASE_URL$/] as const),
    ],
    ['warning', 'schema', change('DELETE FROM migrations'), /behind .*CreateSchema/, /migrate/],
    [
      ...(['warning', 'schema'] as const),
      change(`INSERT INTO migrations (timestamp, name) VALUES (2, 'Later2000000000000')`),
      ...([/ahead .*Later2000000000000/, /version/] as const),
    ],
    [
      ...(['warning', 'schema'] as const),
      change(`INSERT INTO migrations (timestamp, name) VALUES (2, 'toys:Toys:8700000000000')`),
      ...([/Toys of toys/, /petstore.config.js/] as const),
    ],
  ])('says %s of %s, and the cure', async (status, name, cause, detail, cure) => {
    const found = (await findings(cause))(name);
    expect(found).toEqual([
      {
        check: name,
        status,
        detail: expect.stringMatching(detail),
        cure: expect.stringMatching(cure),
      },
    ]);
  });

  it('names each fault of the configuration', async () => {
    const of = await findings(() => Object.assign(process.env, { PORT: 'x', LOG_LEVEL: 'loud' }));
    expect(of('configuration').map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^PORT must be/),
      expect.stringMatching(/^LOG_LEVEL must be/),
    ]);
  });

  it('finds a port that another program has', async () => {
    const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    process.env['PORT'] = String((other.address() as AddressInfo).port);
    const [found] = (await findings())('ports');
    other.close();
    expect(found).toMatchObject({ status: 'failed', cure: 'set PORT to a free port' });
    expect(found!.detail).toMatch(/another program listens there/);
  });

  it('tells of a database and a Redis that cannot be reached, and no password', async () => {
    const nowhere = 'user:secret@127.0.0.1:1';
    process.env['DATABASE_URL'] = `postgres://${nowhere}/none`;
    process.env['REDIS_URL'] = `redis://${nowhere}`;
    const { code, out } = await run('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/^FAILED +database +it cannot be used: ECONNREFUSED\n +cure: /m);
    expect(out).toMatch(/^FAILED +redis +127\.0\.0\.1:1 cannot be used: .*\n +cure: /m);
    expect(out).not.toContain('secret');
  });
});
