import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { runInProcess as run } from '../../test/support/run-program.js';
import type { Finding } from './doctor.findings.js';

const UNPRIVILEGED = 65_534;
const PAGE_BYTES = 4_096;
const LATER = `INSERT INTO petstore_migrations (timestamp, name) VALUES (2, 'Later2000000000000')`;
const TOYS = `INSERT INTO petstore_migrations (timestamp, name) VALUES (2, 'toys:Toys:8700000000000')`;
const FUTURE = new Date(Date.now() + 259_199_383);

describe('petstore doctor', () => {
  const environment = { ...process.env };
  let file: string;
  beforeEach(() => {
    file = join(mkdtempSync(join(tmpdir(), 'petstore-doctor-')), 'petstore.db');
    Object.assign(process.env, { DATABASE_URL: `sqlite:${file}`, METRICS_PORT: '0' });
  });
  afterEach(() => {
    if (process.geteuid!() !== process.getuid!()) process.seteuid!(process.getuid!());
    jest.restoreAllMocks();
    process.env = { ...environment };
    rmSync(join(file, '..'), { recursive: true });
  });

  async function findings(change: () => unknown = () => undefined) {
    await run('migrate');
    change();
    const { code, out, err } = await run('doctor', '--json');
    const { status, checks } = JSON.parse(out) as { status: string; checks: Finding[] };
    expect({ code, err }).toEqual({ code: status === 'failed' ? 1 : 0, err: '' });
    return (name: string) => checks.filter(({ check }) => check === name);
  }

  function damageLastPage(): void {
    new Database(file).exec('PRAGMA wal_checkpoint(TRUNCATE)').close();
    const pages = readFileSync(file);
    writeFileSync(file, pages.fill(0xff, pages.length - PAGE_BYTES));
  }
  /** Mode 0400 restricts every user but root. */
  function makeReadOnly(): void {
    chmodSync(file, 0o400);
    if (process.getuid!() !== 0) return;
    for (const path of [file, join(file, '..')]) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
    process.seteuid!(UNPRIVILEGED);
  }
  const execute = (sql: string) => () => new Database(file).exec(sql).close();

  it('reports nothing if nothing is wrong', async () => {
    const of = await findings();
    for (const check of [
      'configuration',
      'database',
      'schema',
      'clock',
      'redis',
      'files',
      'proxy',
    ]) {
      expect(of(check)).toEqual([{ check, status: 'ok', detail: expect.any(String), fix: null }]);
    }
    expect(of('clock')[0]!.detail).toBe('no timestamps in the future');
    expect(of('proxy')[0]!.detail).toBe('TRUST_PROXY is off, which is correct without a proxy');
    expect((await run('doctor')).out).toMatch(/^ok +configuration +valid, extensions: 0$/m);
  });

  it('doctor creates no database, and prints the command that does', async () => {
    const { code, out, err } = await run('doctor');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(/^failed +database +there is no database .*\n +fix: run petstore migrate/m);
    expect(readdirSync(join(file, '..'))).toEqual([]);
  });

  it.each<[string, string, () => unknown, RegExp, RegExp]>([
    ['failed', 'files', () => chmodSync(file, 0o644), /other users can read/, /^chmod 600 /],
    [
      'warning',
      'proxy',
      () => (process.env['PUBLIC_BASE_URL'] = 'https://zoo.example/v1'),
      /^TRUST_PROXY is off/,
      /^set TRUST_PROXY/,
    ],
    [
      'failed',
      'database',
      () => writeFileSync(file, 'x'.repeat(9_999)),
      /^file is not a database$/,
      /copy/,
    ],
    [
      'failed',
      'clock',
      () => utimesSync(file, FUTURE, FUTURE),
      /^latest write is 3 days ahead of this machine$/,
      /NTP/,
    ],
    ['failed', 'database', makeReadOnly, /readonly database/, /, or choose another file$/],
    ['failed', 'database', damageLastPage, /damaged|malformed/, /copy .* restore BACKUP$/],
    [
      'failed',
      'database',
      () => (rmSync(file), mkdirSync(file)),
      /unable to open/,
      /another file$/,
    ],
    [
      'warning',
      'schema',
      execute('DROP TABLE pets; DELETE FROM petstore_migrations'),
      /pending.*CreateSchema/,
      /migrate/,
    ],
    ['warning', 'schema', execute(LATER), /unknown .*: Later2000000000000$/, /release/],
    ['warning', 'schema', execute(TOYS), /Toys of toys/, /petstore.config.js/],
  ])('reports %s for %s, with a fix', async (status, check, cause, detail, fix) => {
    expect((await findings(cause))(check)).toEqual([
      {
        ...{ check, status },
        detail: expect.stringMatching(detail),
        fix: expect.stringMatching(fix),
      },
    ]);
  });

  it('reports each fault of the configuration', async () => {
    const of = await findings(() => Object.assign(process.env, { PORT: 'x', LOG_LEVEL: 'loud' }));
    expect(of('configuration').map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^PORT must be/),
      expect.stringMatching(/^LOG_LEVEL must be/),
    ]);
  });

  it('reports a database and a Redis that cannot be reached, without their passwords', async () => {
    const nowhere = 'user:secret@127.0.0.1:1';
    process.env['DATABASE_URL'] = `postgres://${nowhere}/none`;
    process.env['REDIS_URL'] = `redis://${nowhere}`;
    const { code, out } = await run('doctor');
    expect(code).toBe(1);
    expect(out).toMatch(
      /^failed +database +PostgreSQL at 127\.0\.0\.1:1 cannot be used: .*\n +fix: /m,
    );
    expect(out).toMatch(/^failed +redis +Redis at 127\.0\.0\.1:1: .*\n +fix: /m);
    expect(out).not.toContain('secret');
  });
});
