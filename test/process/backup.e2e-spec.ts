import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Output, runProgram } from '../support/run-program.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { startLoad } from '../support/load.js';
import { Workplace } from '../support/petstore-process.js';
import { jsonInProcess, runInProcess } from '../support/run-program.js';

const ENTERPRISE = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
const UNPRIVILEGED = 65_534;
const REX = { name: 'Rex', categoryId: 1 };

describe('petstore backup and restore', () => {
  const environment = { ...process.env };
  let workplace: Workplace;
  let database: string;
  let backup: string;
  beforeEach(() => {
    workplace = new Workplace({ LOG_LEVEL: 'silent' });
    database = workplace.databaseFile;
    backup = join(workplace.directory, 'backup.db');
    process.env['DATABASE_URL'] = `sqlite:${database}`;
  });
  afterEach(() => {
    process.env = { ...environment };
    workplace.remove();
  });

  const json = (...argv: string[]) => jsonInProcess(`sqlite:${database}`, ...argv);
  async function failure(...argv: string[]): Promise<string> {
    const { code, out, err } = await runInProcess(...argv);
    expect({ argv, code, out }).toEqual({ argv, code: 1, out: '' });
    expect(err).toMatch(/^error: [^\n]+\n$/);
    return err;
  }
  const countPets = () => {
    const open = new Database(database, { readonly: true });
    const count = open.prepare('SELECT count(*) FROM pets').pluck().get();
    open.close();
    return count;
  };

  it('backup and restore lose no acknowledged pet and no count during creates', async () => {
    await json('seed', '--pets', '50000');
    const writer = await json('keys', 'issue', '--name', 'w', ...ENTERPRISE);
    const server = await workplace.serve();
    const client = new Client(server.origin, writer.key);
    const load = startLoad([client, client, client, client], async () => {
      await pause(10);
      return (await client.post('/v1/pets', REX)).text;
    });
    const acknowledged = load.results;
    await eventually(() => Promise.resolve(acknowledged.length > 100));
    const before = acknowledged.length;
    const { day: counted } = await json('keys', 'usage', writer.id);
    const { stdout } = await workplace.run('backup', backup, '--json');
    await load.stop();
    expect(acknowledged.length).toBeGreaterThan(before);
    await server.stop('SIGKILL');
    expect(JSON.parse(stdout)).toEqual({ file: backup, bytes: statSync(backup).size });
    expect((statSync(backup).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(workplace.directory).sort()).toEqual(['backup.db', 'data']);

    const directory = dirname(database);
    rmSync(directory, { recursive: true });
    mkdirSync(directory, { mode: 0o700 });
    expect(await json('restore', backup)).toEqual({ database, from: backup, pending: [] });
    expect((statSync(database).mode & 0o777).toString(8)).toBe('600');
    const again = await workplace.serve();
    const reader = new Client(again.origin, writer.key);
    for (const text of acknowledged.slice(0, before)) {
      expect((await reader.get(`/v1/pets/${JSON.parse(text).id}`)).text).toBe(text);
    }
    const { day } = await json('keys', 'usage', writer.id);
    expect(day.used).toBeGreaterThanOrEqual(counted.used);
    expect(await again.stop()).toBe(0);
  });

  it('backup - writes the database to standard output, and nothing else', async () => {
    await json('seed', '--pets', '5000');
    const fd = openSync(backup, 'w');
    const child = workplace.start(['backup', '-'], {}, fd);
    let err = '';
    child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()));
    expect(await once(child, 'close')).toEqual([0, null]);
    closeSync(fd);
    expect(err).toBe(`Wrote ${statSync(backup).size} bytes to standard output.\n`);
    expect(readdirSync(workplace.directory).sort()).toEqual(['backup.db', 'data']);
    expect(readdirSync(dirname(database)).join()).not.toMatch(/backup|tmp/);
    rmSync(database);
    await json('restore', backup);
    expect(countPets()).toBe(5_000);
  });

  it('backup - reports a full disk, and no written bytes', async () => {
    await json('migrate');
    const full = openSync('/dev/full', 'w');
    const child = workplace.start(['backup', '-'], {}, full);
    const closed = once(child, 'close');
    expect(await text(child.stderr!)).toMatch(
      /^error: cannot write to standard output \(ENOSPC[^\n]+\)\n$/,
    );
    expect(await closed).toEqual([1, null]);
    closeSync(full);
  });

  it('backup - does not write to a terminal', async () => {
    await json('migrate');
    const written: unknown[] = [];
    const err: string[] = [];
    const output = new Output(
      (text) => written.push(text),
      (text) => err.push(text),
      true,
    );
    expect(await runProgram(['backup', '-'], output)).toBe(1);
    expect([written, err]).toEqual([
      [],
      ['error: standard output is a terminal; redirect it: petstore backup - > FILE\n'],
    ]);
  });

  it('backup names the file that it cannot write, not the database', async () => {
    await json('migrate');
    expect(await failure('backup', '/proc/backup.db')).not.toContain(database);
    expect(await failure('backup', join(database, 'backup.db'))).toMatch(/choose another file/);
  });

  it('backup names the database if its folder cannot be written', async () => {
    await json('migrate');
    // Loads the modules, which Jest could not cache as another user.
    await json('backup', backup);
    const directory = dirname(database);
    chmodSync(workplace.directory, 0o777);
    chmodSync(directory, 0o500);
    for (const path of [directory, database]) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
    const user = process.getuid!();
    // Root may write everywhere.
    if (user === 0) process.seteuid!(UNPRIVILEGED);
    try {
      expect(await failure('backup', backup, '--yes')).toContain(
        `access to ${database}* and its folder`,
      );
    } finally {
      process.seteuid!(user);
      chmodSync(directory, 0o700);
    }
  });

  it('restore changes nothing while a server uses the database, or if the file is no backup', async () => {
    await json('seed', '--pets', '10');
    await json('backup', backup);
    await json('seed', '--pets', '10');
    const server = await workplace.serve();
    expect(await failure('restore', backup, '--yes')).toMatch(
      / is in use by another server \(process \d+/,
    );
    expect(await server.stop()).toBe(0);

    const file = (name: string) => join(workplace.directory, name);
    writeFileSync(file('text.db'), 'longer than the header of an SQLite database'.repeat(9));
    new Database(file('other.db')).exec('CREATE TABLE other (id integer)').close();
    copyFileSync(backup, file('keyless.db'));
    new Database(file('keyless.db')).exec('DROP TABLE api_keys').close();
    const bytes = readFileSync(backup);
    writeFileSync(file('broken.db'), bytes.fill(0x5a, 8_192, bytes.length - 4_096));
    for (const [name, message] of [
      ['none.db', /there is no file/],
      ['text.db', /text\.db is not an SQLite database/],
      ['other.db', /other\.db is not a database of this service/],
      ['keyless.db', /keyless\.db is not a database of this service/],
      ['.', /is not a file\n$/],
      ['broken.db', /broken\.db is (damaged|not a database of this service)/],
    ] as const) {
      expect(await failure('restore', file(name))).toMatch(message);
    }
    expect(readdirSync(dirname(database)).filter((name) => /tmp|restored/.test(name))).toEqual([]);
    expect(countPets()).toBe(20);
  });

  /** Leaves a backup without pets, and a database whose write-ahead log has one. */
  async function killAfterCreate(): Promise<void> {
    await json('migrate');
    const { key } = await json('keys', 'issue', '--name', 'k', ...ENTERPRISE);
    await json('backup', backup);
    const server = await workplace.serve();
    expect((await new Client(server.origin, key).post('/v1/pets', REX)).status).toBe(201);
    await server.stop('SIGKILL');
  }

  it('restore changes nothing while another process has the database open', async () => {
    await json('migrate');
    await json('backup', backup);
    const open = new Database(database);
    open.prepare('INSERT INTO pets (id, name, category_id) VALUES (1, ?, 1)').run('Rex');
    const message = `error: database is locked; another process uses ${database}; end it, or try again\n`;
    expect(await failure('restore', backup)).toBe(message);
    expect(countPets()).toBe(1);
    expect(existsSync(`${database}-wal`)).toBe(true);
    open.close();
    expect(await failure('restore', database)).toMatch(/ is the database\n$/);
    await json('restore', backup);
    expect(countPets()).toBe(0);
  });

  it('restore says that the schema of a backup is unknown to this release, and a start accepts it', async () => {
    await json('migrate');
    await json('backup', backup);
    const later =
      "INSERT INTO petstore_migrations (timestamp, name) VALUES (2, 'Later2000000000000')";
    new Database(backup).exec(later).close();
    expect((await runInProcess('restore', backup)).out).toMatch(
      /^Restored .*\. It has unknown migrations: run petstore doctor\.\n$/,
    );
    const doctor = await runInProcess('doctor');
    expect(doctor.out).toMatch(/^warning +schema +unknown migrations: Later2000000000000$/m);
    expect(await (await workplace.serve()).stop()).toBe(0);
  });

  it('restore loses no pet of the database if it fails before it replaces the file', async () => {
    await killAfterCreate();
    // In place of the temporary copy.
    mkdirSync(`${database}.${process.pid}.tmp`);
    expect((await runInProcess('restore', backup)).code).toBe(1);
    rmSync(`${database}-wal`, { force: true });
    expect(countPets()).toBe(1);
  });

  it('restore loses no pet of the database if it cannot delete what belongs to it', async () => {
    await killAfterCreate();
    rmSync(`${database}-shm`);
    mkdirSync(`${database}-shm`);
    expect((await runInProcess('restore', backup)).code).toBe(1);
    rmdirSync(`${database}-shm`);
    expect(countPets()).toBe(1);
  });

  it('restore replaces a broken database together with its write-ahead log', async () => {
    await killAfterCreate();
    expect(existsSync(`${database}-wal`)).toBe(true);
    writeFileSync(database, readFileSync(database).fill(0x5a, 100, 4_096));

    expect((await runInProcess('restore', backup)).out).toMatch(/^Restored /);
    const files = readdirSync(dirname(database)).filter((name) => !name.endsWith('-server'));
    expect(files).toEqual([basename(database)]);
    expect(countPets()).toBe(0);
  });

  it.each<[string, (path: string) => void, RegExp]>([
    [
      'a database of another program',
      (path) => void new Database(path).exec('CREATE TABLE customers (id)').close(),
      /other\.db is not a database of this service; set DATABASE_URL .* restore BACKUP\n$/,
    ],
    [
      'a text',
      (path) => writeFileSync(path, 'Shopping: milk, bread'.repeat(99)),
      /file is not a database; set DATABASE_URL .* move it .* away, and run petstore restore/,
    ],
  ])('restore never replaces %s, which the operator can move away', async (_what, create, line) => {
    await json('migrate');
    await json('backup', backup);
    const other = join(workplace.directory, 'other.db');
    create(other);
    const before = readFileSync(other);
    process.env['DATABASE_URL'] = `sqlite:${other}`;
    expect(await failure('restore', backup, '--yes')).toMatch(line);
    expect(readFileSync(other)).toEqual(before);
    renameSync(other, `${other}.old`);
    expect((await runInProcess('restore', backup)).out).toMatch(/^Restored /);
  });

  it('backup overwrites nothing without --yes, and never a database', async () => {
    await json('migrate');
    writeFileSync(backup, 'mine');
    expect(await failure('backup', backup)).toMatch(/backup\.db exists; use --yes/);
    expect(readFileSync(backup, 'utf8')).toBe('mine');
    await json('backup', backup, '--yes');
    expect(readFileSync(backup, 'latin1')).toMatch(/^SQLite format 3/);
    for (const suffix of ['', '-wal', '-shm', '-journal', '-server']) {
      const message = await failure('backup', database + suffix, '--yes');
      expect(message).toMatch(/ is part of the database; choose another file\n$/);
    }
    expect(await failure('backup', 'no/where.db')).toMatch(/no directory no\n$/);
  });

  it('backup replaces the file behind a link, not the link', async () => {
    await json('migrate');
    const link = join(workplace.directory, 'link.db');
    symlinkSync(backup, link);
    expect(await failure('backup', link, '--yes')).toMatch(
      /link\.db is a link to a file that does not exist\n$/,
    );
    writeFileSync(backup, 'mine');
    expect(await failure('backup', link)).toMatch(/backup\.db exists; use --yes/);
    await json('backup', link, '--yes');
    expect(readlinkSync(link)).toBe(backup);
    expect(readFileSync(backup, 'latin1')).toMatch(/^SQLite format 3/);
    rmSync(link);
    symlinkSync(database, link);
    expect(await failure('backup', link, '--yes')).toMatch(/ is part of the database;/);
  });

  it('backup and restore point to the tools of PostgreSQL for PostgreSQL', async () => {
    process.env['DATABASE_URL'] = 'postgres://nobody@127.0.0.1:1/none';
    expect(await failure('backup', 'x.db')).toContain('pg_dump');
    expect(await failure('restore', 'x.db')).toContain('pg_restore');
  });
});
