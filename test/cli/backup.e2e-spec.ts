import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';

const ENTERPRISE = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));
const SOMEBODY = 12_345;
const REX = { name: 'Rex', categoryId: 1 };

// Each starts a dozen processes, which takes its time on a busy machine.
jest.setTimeout(300_000);

describe('petstore backup and restore', () => {
  it('lose nothing that was acknowledged, no count and no ban, while creates go on', async () => {
    using workplace = new Workplace({
      ...{ LOG_LEVEL: 'silent', BAN_AFTER_REJECTIONS: '1' },
      ...{ PORT: '0', METRICS_PORT: '0' },
    });
    const backup = join(workplace.directory, 'backup.db');
    await workplace.run('migrate');
    await workplace.run('seed', '--pets', '50000');
    const writer = await workplace.json('keys', 'issue', '--name', 'w', ...ENTERPRISE);
    const limits = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '9'];
    const banned = await workplace.json('keys', 'issue', '--name', 'b', ...limits);
    const server = await workplace.serve();
    const impatient = new Client(server.origin, banned.key);
    await eventually(async () => (await impatient.get('/v1/nope')).text.includes('key_banned'));
    await eventually(
      async () => (await workplace.json('keys', 'show', banned.id)).bannedUntil !== null,
    );

    const client = new Client(server.origin, writer.key);
    const acknowledged: string[] = [];
    let running = true;
    const writing = Array.from({ length: 4 }, async () => {
      while (running) {
        const answer = await client.post('/v1/pets', REX);
        if (answer.status === 201) acknowledged.push(answer.text);
        // The command line is to have a share of the machine as well.
        await pause(10);
      }
    });
    await eventually(() => Promise.resolve(acknowledged.length > 100));
    const before = acknowledged.length;
    const { day: counted } = await workplace.json('keys', 'usage', writer.id);
    const written = await workplace.json('backup', backup);
    running = false;
    await Promise.all(writing);
    expect(acknowledged.length).toBeGreaterThan(before);
    await server.stop('SIGKILL');
    expect(written).toEqual({ file: backup, bytes: statSync(backup).size });
    expect((statSync(backup).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(workplace.directory).sort()).toEqual(['backup.db', 'data']);

    const place = dirname(workplace.databaseFile);
    rmSync(place, { recursive: true });
    mkdirSync(place, { mode: 0o700 });
    // Root may restore for an account that serves.
    if (process.getuid!() === 0) chownSync(place, SOMEBODY, SOMEBODY);
    const owner = statSync(place).uid;
    expect(await workplace.json('restore', backup)).toEqual({
      ...{ database: workplace.databaseFile, from: backup, pending: [] },
    });
    const owners = readdirSync(place).map((name) => [name, statSync(join(place, name)).uid]);
    expect(owners).toEqual([
      ['petstore.db', owner],
      ['petstore.db-server', owner],
    ]);
    expect((statSync(workplace.databaseFile).mode & 0o777).toString(8)).toBe('600');
    expect((await workplace.json('doctor')).status).not.toBe('failed');
    const again = await workplace.serve();
    const reader = new Client(again.origin, writer.key);
    for (const text of acknowledged.slice(0, before)) {
      expect((await reader.get(`/v1/pets/${JSON.parse(text).id}`)).text).toBe(text);
    }
    const still = await new Client(again.origin, banned.key).get('/v1/nope');
    expect(still.json().code).toBe('key_banned');
    const { day } = await workplace.json('keys', 'usage', writer.id);
    expect(day.used).toBeGreaterThanOrEqual(counted.used);
    expect(await again.stop()).toBe(0);
  });

  it('leave the database as it is while a server has it, and where the file is none of its', async () => {
    using workplace = new Workplace({ LOG_LEVEL: 'silent' });
    const backup = join(workplace.directory, 'backup.db');
    await workplace.run('seed', '--pets', '10');
    await workplace.json('backup', backup);
    await workplace.run('seed', '--pets', '10');

    const server = await workplace.serve();
    const refused = await workplace.run('restore', backup, '--yes');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^error: The database [^\n]+ is already served by process \d+/);
    expect(await server.stop()).toBe(0);

    const file = (name: string) => join(workplace.directory, name);
    writeFileSync(
      file('text.db'),
      'not a database, but longer than what SQLite has as a header'.repeat(9),
    );
    new Database(file('other.db')).exec('CREATE TABLE other (id integer)').close();
    const bytes = readFileSync(backup);
    writeFileSync(file('broken.db'), bytes.fill(0x5a, 8_192, bytes.length - 4_096));
    for (const [name, complaint] of [
      ['none.db', /there is no file/],
      ['text.db', /text\.db is not an SQLite database/],
      ['other.db', /other\.db is not a database of this service/],
      ['.', /is not a file\n$/],
      ['broken.db', /broken\.db is (damaged|not a database of this service)/],
    ] as const) {
      const { code, stdout, stderr } = await workplace.run('restore', file(name));
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(complaint);
      expect(stderr).toMatch(/^error: [^\n]+\n$/);
    }
    const data = readdirSync(dirname(workplace.databaseFile));
    expect(data.filter((name) => /tmp|restored/.test(name))).toEqual([]);
    const database = new Database(workplace.databaseFile, { readonly: true });
    expect(database.prepare('SELECT count(*) AS count FROM pets').get()).toEqual({ count: 20 });
    database.close();
  });

  it('refuse a database that is none of this service before it is needed', async () => {
    using workplace = new Workplace();
    const backup = join(workplace.directory, 'backup.db');
    const place = dirname(workplace.databaseFile);
    const complaint = async (): Promise<string> => {
      const { code, stdout, stderr } = await workplace.run('backup', backup);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(readdirSync(workplace.directory)).not.toContain('backup.db');
      return stderr;
    };
    mkdirSync(workplace.databaseFile, { recursive: true });
    expect(await complaint()).toMatch(
      /^error: [^\n]+petstore\.db is not a file: set DATABASE_URL /,
    );
    rmSync(place, { recursive: true });
    mkdirSync(place);
    new Database(workplace.databaseFile).exec('CREATE TABLE other (id integer)').close();
    expect(await complaint()).toMatch(/petstore\.db is not a database of this service\n$/);
  });

  it('go on after a release that was taken back, whose schema stays', async () => {
    using workplace = new Workplace({ LOG_LEVEL: 'silent' });
    const backup = join(workplace.directory, 'backup.db');
    await workplace.run('seed', '--pets', '10');
    new Database(workplace.databaseFile)
      .exec(`INSERT INTO petstore_migrations (timestamp, name) VALUES (2, 'Later2000000000000')`)
      .close();

    await workplace.json('backup', backup);
    expect((await workplace.run('restore', backup, '--yes')).stdout).toMatch(
      /^Restored [^\n]+ Its schema is newer: /,
    );
    const { status, checks } = await workplace.json('doctor');
    expect(status).not.toBe('failed');
    expect(checks).toContainEqual(
      expect.objectContaining({
        ...{ check: 'schema', status: 'warning' },
        detail: 'newer than this version: Later2000000000000',
      }),
    );
  });

  it('replace a database with all that belongs to it, a broken one too', async () => {
    using workplace = new Workplace({ LOG_LEVEL: 'silent' });
    const backup = join(workplace.directory, 'backup.db');
    const { key } = await (async () => {
      await workplace.run('migrate');
      return workplace.json('keys', 'issue', '--name', 'k', ...ENTERPRISE);
    })();
    await workplace.json('backup', backup);
    const server = await workplace.serve();
    const client = new Client(server.origin, key);
    expect((await client.post('/v1/pets', REX)).status).toBe(201);
    await server.stop('SIGKILL');
    expect(existsSync(`${workplace.databaseFile}-wal`)).toBe(true);
    const bytes = readFileSync(workplace.databaseFile);
    writeFileSync(workplace.databaseFile, bytes.fill(0x5a, 0, 4_096));

    expect((await workplace.run('restore', backup)).stdout).toMatch(/^Restored /);
    const name = basename(workplace.databaseFile);
    expect(
      readdirSync(dirname(workplace.databaseFile)).filter((each) => each !== `${name}-server`),
    ).toEqual([name]);
    const again = await workplace.serve();
    expect((await new Client(again.origin, key).get('/v1/pets')).text).toBe('[]');
    expect(await again.stop()).toBe(0);
  });

  it('overwrite no file without being told to, and make none where nothing can be copied', async () => {
    using workplace = new Workplace();
    const backup = join(workplace.directory, 'backup.db');
    const early = await workplace.run('backup', backup);
    expect(early).toMatchObject({ code: 1, stdout: '' });
    expect(early.stderr).toMatch(/^error: there is no database at /);
    await workplace.run('migrate');
    writeFileSync(backup, 'mine');
    expect((await workplace.run('backup', backup)).stderr).toMatch(/backup\.db exists; use --yes/);
    expect(readFileSync(backup, 'utf8')).toBe('mine');
    expect((await workplace.run('backup', backup, '--yes')).code).toBe(0);
    expect(readFileSync(backup, 'latin1')).toMatch(/^SQLite format 3/);
    const itself = await workplace.run('backup', workplace.databaseFile, '--yes');
    expect(itself.stderr).toMatch(/is the database itself\n$/);
    for (const suffix of ['-wal', '-shm', '-journal', '-server']) {
      const beside = await workplace.run('backup', workplace.databaseFile + suffix, '--yes');
      expect(beside.stderr).toMatch(/ belongs to a database in use, .*: name another file\n$/);
      expect(beside.code).toBe(1);
    }
    expect((await workplace.run('backup', 'no/where.db')).stderr).toMatch(/no directory no\n$/);
    expect((await workplace.run('backup')).code).toBe(2);
  });

  it('point to the tools of PostgreSQL for PostgreSQL', async () => {
    using workplace = new Workplace({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    for (const [command, tool] of [
      ['backup', 'pg_dump'],
      ['restore', 'pg_restore'],
    ] as const) {
      const { code, stdout, stderr } = await workplace.run(command, 'x.db');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: [^\n]+\n$/);
      expect(stderr).toContain(tool);
    }
  });
});
