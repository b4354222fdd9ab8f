import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { type Served, Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { Random } from '../support/random.js';
import { withinOne } from '../support/undisturbed.js';

const [PETS, KEYS] = [60_000, 2_000];
const [KILLS, KILLS_BACK] = [10, 3];
const GUIDE = readFileSync('docs/scaling.md', 'utf8');
const [, RECIPE] = /## Move from SQLite to PostgreSQL\n[^]*?```sh\n([^]*?)```/.exec(GUIDE)!;
const EXAMPLE_URL = /postgres:\/\/\S+/g;
const REX = { name: 'Rex', categoryId: 7 };

/** A digest of every row and the schema. */
function digestOf(file: string): string {
  const database = new Database(file, { readonly: true });
  const tables = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'table'`).all();
  const digest = createHash('sha256').update(JSON.stringify(tables));
  for (const { name } of tables as { name: string }[]) {
    for (const row of database.prepare(`SELECT * FROM "${name}"`).safeIntegers().raw().iterate()) {
      digest.update((row as unknown[]).map(String).join());
    }
  }
  database.close();
  return digest.digest('hex');
}

function sqliteRowsIn(url: string): number {
  const file = url.replace('sqlite:', '');
  if (!existsSync(file)) return 0;
  const database = new Database(file);
  const count = (table: string) => {
    const isMissing = !database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table);
    return isMissing ? 0 : Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  };
  const rows = count('pets') + count('api_keys');
  database.close();
  return rows;
}

function addKeys(file: string, count: number): void {
  const database = new Database(file);
  const insert = database.prepare(
    `INSERT INTO api_keys (id, client_id, name, digest, last_four, plan, scopes, created_at,
      changed_at) VALUES (@id, @id, 'Key', @id, 'abcd', 'free', 'pets:read', 1, 1)`,
  );
  database.transaction(() => {
    for (let key = 0; key < count; key++) insert.run({ id: randomUUID().slice(4) });
  })();
  database.close();
}

describeWith('postgres', 'petstore copy', (initdb) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start(initdb);
  });
  afterAll(() => server.remove());

  const random = new Random(Date.now());
  const rowsIn = async (url: string): Promise<number> => {
    const [found] = (await server.query(`SELECT to_regclass('pets') AS pets`, url)) as [
      { pets: string | null },
    ];
    if (found.pets === null) return 0;
    const [{ rows }] = (await server.query(
      `SELECT (SELECT count(*) FROM pets) + (SELECT count(*) FROM api_keys) AS rows`,
      url,
    )) as [{ rows: string }];
    return Number(rows);
  };

  /**
   * Kills copies at random moments until some were broken off, which leave no row. A copy that has
   * committed before shortens the time, and gets another target.
   */
  async function killCopies(
    workplace: Workplace,
    kills: number,
    newTarget: () => Promise<string>,
    rowsOf: (target: string) => number | Promise<number>,
  ): Promise<string> {
    const startedAtMs = performance.now();
    await workplace.json('copy', '--to', await newTarget());
    let longestMs = performance.now() - startedAtMs;
    let target = await newTarget();
    for (let broken = 0; broken < kills;) {
      const child = workplace.start(['copy', '--to', target]);
      const closed = once(child, 'close');
      // The first third is the start of the program.
      await pause((longestMs * (300 + random.below(700))) / 1_000);
      child.kill('SIGKILL');
      await closed;
      const rows = await rowsOf(target);
      if (rows === PETS + KEYS) {
        longestMs *= 0.9;
        target = await newTarget();
      } else {
        broken++;
        expect(rows).toBe(0);
      }
    }
    return target;
  }

  it('leaves no row in the target and the source as it was, killed at ten random moments', async () => {
    using workplace = new Workplace();
    await workplace.json('seed', '--pets', String(PETS));
    addKeys(workplace.databaseFile, KEYS);
    const before = digestOf(workplace.databaseFile);
    const url = await killCopies(workplace, KILLS, () => server.createDatabase(), rowsIn);
    expect(digestOf(workplace.databaseFile)).toBe(before);
    await workplace.json('copy', '--to', url);
    expect(await rowsIn(url)).toBe(PETS + KEYS);

    using back = new Workplace({ DATABASE_URL: url });
    let files = 0;
    const newFile = () => Promise.resolve(`sqlite:${join(back.directory, `${files++}.db`)}`);
    const file = await killCopies(back, KILLS_BACK, newFile, sqliteRowsIn);
    expect(await rowsIn(url)).toBe(PETS + KEYS);
    await back.json('copy', '--to', file);
    expect(sqliteRowsIn(file)).toBe(PETS + KEYS);
  });

  it(
    'moves a running service with the recipe of the guide, and the callers notice nothing',
    withinOne('day', async () => {
      using workplace = new Workplace({ LOG_LEVEL: 'silent' });
      await workplace.run('migrate');
      const issue = ['keys', 'issue', '--name', 'Zoo', '--plan', 'pro'];
      const { key } = await workplace.json(...issue);
      const name = `petstore_${randomUUID().slice(0, 8)}`;
      const url = server.url.replace(/postgres$/, name);
      let service: Served = await workplace.serve();
      const call = { 'idempotency-key': 'once' };
      const first = new Client(service.origin, key);
      const created = await first.post('/v1/pets', REX, call);
      for (let request = 0; request < 4; request++) await first.get('/v1/pets');
      first.close();
      const connection = { PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'postgres' };
      const run: Record<string, (words: string[]) => Promise<unknown> | string> = {
        'sudo systemctl stop petstore': () => service.stop(),
        'sudo systemctl start petstore': async () =>
          (service = await workplace.serve({ DATABASE_URL: url })),
        createdb: (words) =>
          execFileSync(join(dirname(initdb), 'createdb'), [...words.slice(0, -1), name], {
            env: connection,
            encoding: 'utf8',
          }),
        petstore: (words) => workplace.json(...words),
      };
      const lines = RECIPE!.trim().split('\n');
      expect(lines.length).toBeGreaterThan(4);
      for (const line of lines) {
        const [program, ...words] = line.replace(EXAMPLE_URL, url).split(' ');
        await (run[line] ?? run[program!]!)(words);
      }
      const again = new Client(service.origin, key);
      const replayed = await again.post('/v1/pets', REX, call);
      expect([replayed.headers['idempotent-replayed'], replayed.text]).toEqual([
        'true',
        created.text,
      ]);
      const limit = Number(/"day";q=(\d+)/.exec(String(replayed.headers['ratelimit-policy']))![1]);
      expect(replayed.headers['ratelimit']).toContain(`"day";r=${limit - 6};`);
      expect((await again.post('/v1/pets', REX)).json().id).toBe(created.json().id + 1);
      again.close();
      expect(await service.stop()).toBe(0);
    }),
  );
});
