import fs, {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { FakeServer } from '../../test/support/fake-server.js';
import { freePort } from '../../test/support/free-port.js';
import { runInProcess as run } from '../../test/support/run-program.js';
import { unknownKey } from '../../test/support/unknown-key.js';
import { isServed, lockFile } from '../core/database/sqlite/sqlite.file.js';
import type { Finding } from './doctor.findings.js';

const UNPRIVILEGED = 65_534;
const PAGE_BYTES = 4_096;
const LATER = `INSERT INTO petstore_migrations (timestamp, name) VALUES (2, 'Later2000000000000')`;
const TOYS = `INSERT INTO petstore_migrations (timestamp, name) VALUES (2, 'toys:Toys:8700000000000')`;
const KEY_OF_GONE_PLAN = `INSERT INTO api_keys
  (id, client_id, name, digest, last_four, plan, scopes, created_at, changed_at)
  VALUES ('k', 'k', 'k', 'd', '1234', 'gone', '', 1, 1)`;
const CONFIG_WITHOUT_SCOPE = `
  const { Controller, Get, Module } = require('${resolve('node_modules/@nestjs/common')}');
  class Toys { list() {} }
  Get('list')(Toys.prototype, 'list', Object.getOwnPropertyDescriptor(Toys.prototype, 'list'));
  Controller('toys')(Toys);
  class ToysModule {}
  Module({ controllers: [Toys] })(ToysModule);
  module.exports = { __esModule: true, default: { extensions: [{ name: 'toys', module: ToysModule }] } };`;
const FUTURE = new Date(Date.now() + 259_199_383);

describe('petstore doctor', () => {
  const environment = { ...process.env };
  let file: string;
  beforeEach(() => {
    file = join(mkdtempSync(join(tmpdir(), 'petstore-doctor-')), 'petstore.db');
    Object.assign(process.env, { DATABASE_URL: `sqlite:${file}`, PORT: '0', METRICS_PORT: '0' });
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
  /** Modes restrict every user but root. */
  function leaveRoot(): void {
    if (process.getuid!() !== 0) return;
    for (const path of [file, join(file, '..')]) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
    process.seteuid!(UNPRIVILEGED);
  }
  function makeReadOnly(): void {
    chmodSync(file, 0o400);
    leaveRoot();
  }
  /** As after a start as root. */
  function restrictLock(lock: string): void {
    writeFileSync(lock, '', { mode: process.getuid!() === 0 ? 0o600 : 0 });
    leaveRoot();
  }
  function fillDisk(): void {
    const empty = fs.statfsSync(join(file, '..'));
    jest.spyOn(fs, 'statfsSync').mockReturnValue({ ...empty, bavail: 9 });
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
    expect((await run('doctor')).out).toMatch(
      /^ok +configuration +valid, extensions: pets, account$/m,
    );
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
      /move it and its -wal file away/,
    ],
    [
      'failed',
      'database',
      () => (rmSync(file), execute('CREATE TABLE other (id)')()),
      /petstore\.db is not a database of this service$/,
      /^set DATABASE_URL to another file; or, .* move it .* restore BACKUP$/,
    ],
    [
      'failed',
      'database',
      () => renameSync(file, `${file}-wal`),
      /no database at .*petstore\.db, but its write-ahead log .*petstore\.db-wal$/,
      /^put the database back, or move .*petstore\.db-wal away$/,
    ],
    [
      'failed',
      'database',
      () => (renameSync(file, `${file}-wal`), writeFileSync(file, '')),
      /no database at .*petstore\.db, but its write-ahead log .*petstore\.db-wal$/,
      /^put the database back, or move .*petstore\.db-wal away$/,
    ],
    [
      'failed',
      'database',
      () => (rmSync(file), symlinkSync('/nowhere/petstore.db', file)),
      /petstore\.db is a link to a file that does not exist$/,
      /^put that file back, or remove the link$/,
    ],
    [
      'failed',
      'database',
      () => {
        symlinkSync('/nowhere', `${file}-link`);
        process.env['DATABASE_URL'] = `sqlite:${file}-link/petstore.db`;
      },
      /^ENOENT/,
      /is not a folder, or a link to nothing$/,
    ],
    [
      'failed',
      'database',
      () => (process.env['DATABASE_URL'] = `sqlite:${process.execPath}/petstore.db`),
      /^ENOTDIR/,
      /^correct DATABASE_URL: a part of the path .* is not a folder, or a link to nothing$/,
    ],
    [
      'failed',
      'clock',
      () => utimesSync(file, FUTURE, FUTURE),
      /^latest write is 259\d{3}\.\d s ahead of this machine$/,
      /NTP/,
    ],
    [
      'failed',
      'database',
      makeReadOnly,
      /readonly database/,
      /or set DATABASE_URL to another file$/,
    ],
    [
      'failed',
      'database',
      fillDisk,
      /^less than 1 MB of the disk is free$/,
      /^free space on the disk of .*petstore\.db$/,
    ],
    ['failed', 'database', damageLastPage, /damaged|malformed/, /copy .* restore BACKUP$/],
    [
      'failed',
      'configuration',
      () => (process.env['LOG_LEVEL'] = unknownKey()),
      /^LOG_LEVEL must be one of .*, not "psk_\.\.\."$/,
      /^correct what this line names: the variable/,
    ],
    [
      'failed',
      'configuration',
      () => (rmSync(file), mkdirSync(file)),
      /petstore\.db is a folder$/,
      /^correct what this line names: the variable/,
    ],
    [
      'failed',
      'plans',
      execute(KEY_OF_GONE_PLAN),
      /^keys have the plan gone, which does not exist$/,
      /^add gone to the plans .* petstore keys set-plan$/,
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

  it.each<[string, (lock: string) => unknown, RegExp]>([
    ['may not open', restrictLock, /^EACCES: .*-server'; give this user access to .*-server\* and/],
    ['is damaged', (lock) => writeFileSync(lock, 'x'.repeat(9_999)), /damaged; move it away$/],
    ['is a folder', (lock) => mkdirSync(lock), /^EISDIR: .*-server'; move it away$/],
  ])('reports a lock file that %s, as a start does', async (_what, change, line) => {
    const of = await findings(() => change(`${file}-server`));
    const [{ detail, fix }] = of('database') as [Finding];
    expect(`${detail}; ${fix}`).toMatch(line);
    expect(() => lockFile(file)).toThrow(`${detail}; ${fix}`);
  });

  it('accepts the lock file of a server that runs or has ended, and does not change it', async () => {
    const read = () => readFileSync(`${file}-server`);
    await run('migrate');
    const release = lockFile(file);
    const before = read();
    expect((await findings())('database')[0]!.status).toBe('ok');
    expect(isServed(file)).toBe(true);
    release();
    expect((await findings())('database')[0]!.status).toBe('ok');
    expect(read()).toEqual(before);
  });

  it.each([
    ['DROP TABLE usage_hours', 'no such table: usage_hours'],
    ['ALTER TABLE api_keys RENAME TO x', 'no such table: api_keys'],
    ['ALTER TABLE pets RENAME COLUMN status TO st', 'no such column: pets.status'],
  ])('reports what is missing after %s', async (sql, detail) => {
    const fix = 'restore a backup, or add what is missing';
    const of = await findings(execute(sql));
    expect(of('schema')).toEqual([{ check: 'schema', status: 'failed', detail, fix }]);
  });

  it('reports each fault of the configuration', async () => {
    const of = await findings(() => Object.assign(process.env, { PORT: 'x', LOG_LEVEL: 'loud' }));
    expect(of('configuration').map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^PORT must be/),
      expect.stringMatching(/^LOG_LEVEL must be/),
    ]);
  });

  it.each(['PORT', 'ADMIN_PORT', 'METRICS_PORT'])('reports that %s is in use', async (setting) => {
    await using other = await FakeServer.start(
      () => 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    );
    process.env[setting] = String(other.port);
    const of = await findings();
    const host = setting.replace('PORT', 'HOST');
    delete process.env[setting];
    expect(of('ports')).toEqual([
      {
        ...{ check: 'ports', status: 'failed' },
        detail: expect.stringMatching(`^${setting} cannot be used: .*EADDRINUSE`),
        fix: `another program uses this port: choose a free one with ${setting}`,
      },
    ]);
    process.env[host] = '192.0.2.1';
    process.env[setting] = '18999';
    expect((await findings())('ports')[0]!.fix).toBe(
      `choose an address of this machine with ${host}`,
    );
  });

  it('does not check the rights of a file of another program', async () => {
    writeFileSync(file, 'x'.repeat(9_999), { mode: 0o644 });
    const { out } = await run('doctor');
    expect(out).toContain('file is not a database');
    expect(out).not.toContain('chmod');
  });

  it.each([
    ['', /^a program that does not respond uses this port, maybe this server: .* with PORT$/],
    ['SSH-2.0-OpenSSH\r\n', /^another program uses this port/],
    ['HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"ok"}', /^another program uses/],
  ])('reports what uses a port of a server that may run, by its response %j', async (text, fix) => {
    await using other = await FakeServer.start(() => text);
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', PORT: String(other.port) };
    const of = await findings(() => Object.assign(process.env, env));
    expect(of('ports').map((finding) => finding.fix)).toEqual([expect.stringMatching(fix)]);
  });

  it('takes the admin port of a server for its own, whatever its limits are', async () => {
    const body = '{"code":"rate_limit_exceeded"}';
    await using limited = await FakeServer.start(
      () => `HTTP/1.1 429 Too Many\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const url = 'postgres://127.0.0.1:1/none';
    const env = { DATABASE_URL: url, ADMIN_PORT: String(limited.port) };
    const of = await findings(() => Object.assign(process.env, env));
    expect(of('ports').map(({ status }) => status)).toEqual(['ok']);
  });

  it('reports two equal ports', async () => {
    const port = String(await freePort());
    const of = await findings(() => Object.assign(process.env, { PORT: port, ADMIN_PORT: port }));
    expect(of('configuration')[0]!.detail).toMatch(/PORT, ADMIN_PORT and METRICS_PORT must differ/);
  });

  it('reports an extension that cannot be served', async () => {
    const config = join(file, '..', 'petstore.config.js');
    writeFileSync(config, CONFIG_WITHOUT_SCOPE);
    const { code, out } = await run('doctor', '--json', '--config', config);
    expect(code).toBe(1);
    expect(JSON.parse(out).checks).toMatchObject([
      {
        check: 'configuration',
        detail: 'Toys.list has neither @RequireScope(...) nor @AnyScope()',
      },
    ]);
  });

  it('leaves alone what is no file', async () => {
    const of = await findings(() => mkdirSync(`${file}-shm`, { mode: 0o755, recursive: true }));
    expect(of('files').map(({ fix }) => fix)).not.toContain(`chmod 600 ${file}-shm`);
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
    expect(out).toMatch(/^failed +redis +Redis at 127\.0\.0\.1:1 cannot be used: .*\n +fix: /m);
    expect(out).not.toContain('secret');
  });
});
