import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { saveUsage } from '../support/background.js';
import { Client } from '../support/client.js';
import { describeOnPostgres } from '../support/engines.js';
import {
  type Finding,
  jsonInProcess,
  Output,
  runInProcess,
  runProgram,
} from '../support/run-program.js';
import { startService } from '../support/start-service.js';
import { writeToysConfig } from '../support/toys-config.js';
import { withinOne } from '../support/undisturbed.js';

const REX = { name: 'Rex', categoryId: 7 };
const NOWHERE = 'postgres://user:secret@127.0.0.1:1/none';

describeOnPostgres('petstore copy', (server) => {
  const environment = { ...process.env };
  let directory: string;
  let from: string;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-copy-'));
    from = file('source.db');
    process.env['DATABASE_URL'] = from;
    await runInProcess('migrate');
  });
  afterEach(() => {
    process.env = { ...environment };
    rmSync(directory, { recursive: true });
  });

  const file = (name: string) => `sqlite:${directory}/${name}`;
  const copy = (source: string, to: string, ...more: string[]) =>
    jsonInProcess(source, 'copy', '--to', to, ...more);
  const sqlite = (url: string, sql: string): unknown[] => {
    const database = new Database(url.replace('sqlite:', ''));
    try {
      const statement = database.prepare(sql).safeIntegers();
      return statement.reader ? statement.all() : [statement.run()];
    } finally {
      database.close();
    }
  };
  const query = (url: string, sql: string) =>
    url.startsWith('sqlite:') ? sqlite(url, sql) : server.query(sql, url);
  const TABLES = [
    ...['pets', 'api_keys', 'admin_tokens', 'audit_records', 'idempotency_records'],
    ...['rate_limit_counters', 'rate_limit_bans', 'usage_hours', 'rejected_requests'],
  ];
  /** The rows of every table as text, which both engines print alike. */
  async function contentOf(url: string): Promise<Record<string, string[]>> {
    const content: Record<string, string[]> = {};
    for (const table of TABLES) {
      const rows = (await query(url, `SELECT * FROM ${table}`)) as object[];
      const texts = rows.map((row) => JSON.stringify(Object.entries(row).map(String)));
      content[table] = texts.sort();
    }
    return content;
  }
  async function failure(expected: number, ...argv: string[]): Promise<string> {
    const { code, out, err } = await runInProcess('copy', ...argv);
    expect({ argv, code, out }).toEqual({ argv, code: expected, out: '' });
    expect(err).toMatch(/^error: [^\n]+\n$/);
    expect(err).not.toContain('secret');
    return err;
  }

  /** Leaves rows in every table, by requests and commands. */
  async function use(url: string) {
    const env = { DATABASE_URL: url, BAN_AFTER_REJECTIONS: '2' };
    await using service = await startService({ env });
    const client = await service.client({
      perMinute: 100,
      perDay: 500,
      allowedFrom: ['127.0.0.1'],
    });
    const banned = await service.client({ perMinute: 1, perDay: 5 });
    const key = { 'idempotency-key': 'once' };
    const created = await client.post('/v1/pets', REX, key);
    for (let request = 0; request < 9; request++) await client.get('/v1/pets');
    for (let request = 0; request < 4; request++) await banned.get('/v1/pets');
    await service.anonymous().get('/v1/pets');
    await saveUsage(service);
    return { client, banned, created, key };
  }

  it(
    'copies every row from SQLite to PostgreSQL and back, and the callers notice nothing',
    withinOne('day', async () => {
      const { client, banned, created, key } = await use(from);
      await jsonInProcess(from, 'admin', 'issue', '--name', 'Ann', '--role', 'viewer');
      await jsonInProcess(from, 'seed', '--pets', '2500');
      sqlite(from, 'DELETE FROM pets WHERE id = (SELECT max(id) FROM pets)');
      const content = await contentOf(from);
      for (const table of TABLES)
        expect([table, content[table]!.length > 0]).toEqual([table, true]);
      const to = await server.createDatabase();
      const { tables, notCopied } = await copy(from, to);
      expect(notCopied).toEqual([]);
      expect(tables).toHaveLength(TABLES.length);
      expect(tables).toContainEqual({ table: 'pets', source: 2_500, target: 2_500 });
      expect(await contentOf(to)).toEqual(content);
      expect(await contentOf(from)).toEqual(content);

      const back = file('back.db');
      await copy(to, back);
      expect(await contentOf(back)).toEqual(content);
      const lastId = 2_501;
      for (const url of [to, back]) {
        await using service = await startService({ env: { DATABASE_URL: url } });
        const again = new Client(service.origin, client.key);
        const replayed = await again.post('/v1/pets', REX, key);
        expect(replayed.headers['idempotent-replayed']).toBe('true');
        expect(replayed.text).toBe(created.text);
        expect(replayed.headers['ratelimit']).toMatch(/"day";r=489;/);
        const next = await again.post('/v1/pets', REX);
        // The number of a deleted pet is not used again.
        expect(next.json().id).toBe(lastId + 1);
        expect((await new Client(service.origin, banned.key).get('/v1/pets')).json().code).toBe(
          'key_banned',
        );
        const usage = await jsonInProcess(url, 'keys', 'usage', client.keyId!);
        expect(usage.outcomes.ok).toBe(10);
        again.close();
      }
      Object.assign(process.env, { DATABASE_URL: to, PORT: '0', METRICS_PORT: '0' });
      const { checks } = JSON.parse((await runInProcess('doctor', '--json')).out);
      // PostgreSQL runs without fsync here.
      const faults = (checks as Finding[]).filter(({ status }) => status === 'failed');
      expect(faults.map(({ detail }) => detail)).toEqual([expect.stringMatching(/fsync is off$/)]);
    }),
  );

  it('copies the tables of extensions, with every kind of column, and no trigger runs', async () => {
    const config = join(directory, 'toys.config.js');
    writeToysConfig(config);
    const withToys = ['--config', config];
    await jsonInProcess(from, 'migrate', ...withToys);
    for (const [sql] of [
      [`DELETE FROM boxes`],
      [`INSERT INTO boxes VALUES (9223372036854775807, 'big "one"')`],
      [
        `INSERT INTO a_toys (id, parent, box, sold, at, photo, tags, more, price, weight, code)
          VALUES (5, 7, 9223372036854775807, 1, '2026-02-03 04:05:06.789', x'00ff5c', '["a","b,c"]',
          '{"n":9007199254740993}', 1.25, 0.1, '0042'),
          (7, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
      ],
      [`DELETE FROM boxes WHERE id BETWEEN 1000 AND 2000`],
    ]) {
      sqlite(from, sql!);
    }
    const [onPostgres, onSqlite] = [await server.createDatabase(), file('again.db')];
    const another = await server.createDatabase();
    await copy(from, onPostgres, ...withToys);
    await copy(onPostgres, another, ...withToys);
    await copy(another, onSqlite, ...withToys);
    for (const url of [onPostgres, another]) {
      const [toy] = await query(
        url,
        `SELECT id, parent, box, sold, tags, more::text, price, weight, code, half,
          at AT TIME ZONE 'UTC' = '2026-02-03 04:05:06.789' AS at, encode(photo, 'hex') AS photo
        FROM a_toys WHERE id = 5`,
      );
      expect(toy).toEqual({
        ...{ id: '5', parent: '7', box: '9223372036854775807', sold: true, tags: ['a', 'b,c'] },
        ...{ more: '{"n": 9007199254740993}', price: '1.25', weight: 0.1, code: '0042' },
        ...{ half: '4611686018427387903', at: true, photo: '00ff5c' },
      });
      expect(await query(url, 'SELECT name FROM boxes')).toEqual([{ name: 'big "one"' }]);
    }
    const [first, second] = [from, onSqlite].map((url) =>
      sqlite(url, `SELECT *, typeof(sold), typeof(photo), typeof(at), typeof(tags) FROM a_toys`),
    ) as [Record<string, unknown>[], Record<string, unknown>[]];
    expect(second[0]!['more']).toBe('{"n": 9007199254740993}');
    expect({ ...second[0], more: '' }).toEqual({ ...first[0], more: '' });
    expect(second[1]).toEqual(first[1]);

    // Triggers and foreign keys work again.
    const insert = `INSERT INTO a_toys (sold) VALUES `;
    for (const [url, value] of [
      [another, 'true'],
      [onSqlite, '1'],
    ] as const) {
      await query(url, `${insert}(${value})`);
      const [{ id }] = (await query(url, 'SELECT max(id) AS id FROM a_toys')) as [{ id: unknown }];
      expect(String(id)).toBe('8');
      expect(await query(url, 'SELECT name FROM boxes WHERE id = 1008')).toHaveLength(1);
    }
    const orphan = 'INSERT INTO a_toys (box, sold) VALUES (4, true)';
    await expect(query(another, orphan)).rejects.toThrow(/foreign key/);
  });

  it('fails with one line on a value that the target cannot store, and leaves no row', async () => {
    await jsonInProcess(from, 'seed', '--pets', '10');
    sqlite(from, `UPDATE pets SET name = 'x' || char(0) WHERE id = 10`);
    const to = await server.createDatabase();
    expect(await failure(1, '--to', to)).toMatch(/invalid byte sequence/);
    sqlite(from, `UPDATE pets SET name = '${'x'.repeat(300)}' WHERE id = 10`);
    expect(await failure(1, '--to', to)).toMatch(/too long/);
    expect(await server.query('SELECT * FROM pets', to)).toEqual([]);
    expect(await server.query('SELECT * FROM api_keys', to)).toEqual([]);
  });

  it('rejects a target that is invalid, the source, unreachable or has rows', async () => {
    const filled = await server.createDatabase();
    await jsonInProcess(filled, 'migrate');
    await jsonInProcess(filled, 'seed', '--pets', '1');
    expect(await failure(2)).toMatch(/--to <url>' not specified/);
    expect(await failure(2, '--to', 'mysql://user:secret@host/x')).toMatch(/--to must be sqlite:/);
    expect(await failure(2, '--to', '')).toMatch(/--to must be sqlite:/);
    expect(await failure(2, '--to', from)).toMatch(/--to is the source/);
    for (const end of ['', '-wal', '-journal', '-server']) {
      const part = `${file('.')}/source.db${end}`;
      expect(await failure(2, '--to', part)).toMatch(/--to is the source, or part of it/);
    }
    expect(await failure(1, '--to', NOWHERE)).toMatch(/port in --to\n$/);
    expect(await failure(1, '--to', filled.replace(/\w+$/, 'none'))).toMatch(/name in --to\n$/);
    expect(await failure(1, '--to', filled)).toMatch(
      /^error: the target has rows in pets; choose an empty database\n$/,
    );
    expect(await server.query('SELECT name FROM pets', filled)).toHaveLength(1);
    await server.query(
      'CREATE ROLE weak LOGIN; GRANT SELECT ON petstore_migrations TO weak',
      filled,
    );
    expect(await failure(1, '--to', filled.replace('postgres@', 'weak@'))).toMatch(
      /role in DATABASE_URL or --to: /,
    );
    const other = file('other.db');
    await jsonInProcess(file('other.db'), 'migrate');
    await jsonInProcess(other, 'keys', 'issue', '--name', 'k', '--plan', 'free');
    expect(await failure(1, '--to', other)).toMatch(/has rows in api_keys, audit_records;/);
  });

  it('rejects a source that is missing, served or has another schema, and creates no target', async () => {
    const to = file('target.db');
    process.env['DATABASE_URL'] = file('none.db');
    expect(await failure(1, '--to', to)).toMatch(/there is no database at/);
    process.env['DATABASE_URL'] = NOWHERE;
    expect(await failure(1, '--to', to)).toMatch(/port in DATABASE_URL\n$/);
    process.env['DATABASE_URL'] = from;
    const service = await startService({ env: { DATABASE_URL: from } });
    expect(await failure(1, '--to', to)).toMatch(/in use by another server \(process \d+ .* stop/);
    await service.close();
    const config = join(directory, 'toys.config.js');
    writeToysConfig(config);
    expect(await failure(1, '--to', to, '--config', config)).toMatch(
      /the schema of the source lacks CreateToys1764720000000 of toys; run petstore migrate first/,
    );
    await jsonInProcess(from, 'migrate', '--config', config);
    expect(await failure(1, '--to', to)).toMatch(/the source has CreateToys1764720000000 of toys;/);
    expect(readdirSync(directory)).not.toContain('target.db');
  });

  it('names the right that a source lacks, also for a target in SQLite', async () => {
    const source = await server.createDatabase();
    await jsonInProcess(source, 'migrate');
    await server.query(
      'CREATE ROLE blind LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO blind',
      source,
    );
    const blind = source.replace('postgres@', 'blind@');
    process.env['DATABASE_URL'] = blind;
    const { code, err } = await runInProcess('copy', '--to', file('target.db'));
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /sequence \w+; grant the missing privilege to the role in DATABASE_URL or --to: /,
      ),
    ]);
    await server.query('GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO blind', source);
    expect((await copy(blind, file('target.db'))).notCopied).toEqual([]);
  });

  it('rejects a target that a server has', async () => {
    const to = file('target.db');
    const service = await startService({ env: { DATABASE_URL: to } });
    expect(await failure(1, '--to', to)).toMatch(/set --to to another file\n$/);
    await service.close();
  });

  it.each<[string, (target: string) => void, RegExp]>([
    ['a text', (path) => writeFileSync(path, 'x'.repeat(9_999)), /not a database; set --to/],
    [
      'damaged',
      (path) => writeFileSync(path, readFileSync(path).fill(0x5a, 100, 4_096)),
      /malformed; set --to/,
    ],
    [
      // Found out when its tables are counted, as damage of the source is.
      'damaged in its tables',
      (path) => {
        const database = new Database(path);
        const roots = `SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'pets'`;
        const pages = database.prepare<[], number>(roots).pluck().all();
        database.close();
        const bytes = readFileSync(path);
        for (const page of pages) bytes.fill(0x5a, (page - 1) * 4_096, page * 4_096);
        writeFileSync(path, bytes);
      },
      /malformed; if petstore doctor finds no fault, set --to/,
    ],
  ])('does not advise to replace the source if the target is %s', async (_what, damage, line) => {
    const to = file('target.db');
    await jsonInProcess(to, 'migrate');
    damage(to.replace('sqlite:', ''));
    const message = await failure(1, '--to', to);
    expect(message).toMatch(line);
    expect(message).toMatch(/ set --to to another file, or move that file away\n$/);
    expect(message).not.toContain('restore');
  });

  it('prints a table, the progress on a terminal, and what it did not copy', async () => {
    await jsonInProcess(from, 'seed', '--pets', '1500');
    sqlite(from, 'CREATE TABLE notes (text)');
    const [out, err]: [string[], string[]] = [[], []];
    const output = new Output(
      (text) => out.push(String(text)),
      (text) => err.push(text),
      true,
    );
    expect(await runProgram(['copy', '--to', file('target.db')], output)).toBe(0);
    expect(out.join('')).toMatch(/^TABLE +SOURCE +TARGET\n[^]*\npets +1500 +1500\n/);
    expect(out.join('')).toMatch(/\nNot copied: notes, which no migration creates\.\n$/);
    expect(err.join('')).toContain('\rpets: 1000 of 1500\x1b[K\rpets: 1500 of 1500\x1b[K');
    expect(err.at(-1)).toBe('\r\x1b[K');
  });

  it('says for PostgreSQL that the servers must be stopped', async () => {
    const source = await server.createDatabase();
    await jsonInProcess(source, 'migrate');
    process.env['DATABASE_URL'] = source;
    const { code, err } = await runInProcess('copy', '--to', file('target.db'));
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(/^The servers of the source must be stopped: [^\n]+\n$/),
    });
  });

  it('lets nobody write into a target in PostgreSQL during the copy', async () => {
    const to = await server.createDatabase();
    await jsonInProcess(to, 'migrate');
    const { Client: Pg } = await import('pg');
    const other = new Pg({ connectionString: to });
    await other.connect();
    await other.query(`BEGIN; INSERT INTO pets (name, category_id) VALUES ('x', 1)`);
    expect(await failure(1, '--to', to)).toMatch(/lock/);
    await other.query('COMMIT');
    await other.end();
    expect(await failure(1, '--to', to)).toMatch(/has rows in pets/);
  });
});
