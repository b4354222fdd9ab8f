import Database from 'better-sqlite3';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';
import { withinOne } from '../support/undisturbed.js';

// Each starts a dozen processes, which takes its time on a busy machine.
jest.setTimeout(180_000);

describe('petstore serve, killed with SIGKILL', () => {
  it(
    'keeps counts, those of a rotated client together, bans, and what an address has failed at',
    withinOne('day', async () => {
      using workplace = new Workplace({
        ...{ LOG_LEVEL: 'silent', BAN_AFTER_REJECTIONS: '2', FAILED_AUTH_PER_DAY: '3' },
      });
      const issue = (perDay: number) =>
        workplace.json(
          ...['keys', 'issue', '--name', 'Zoo', '--plan', 'enterprise'],
          ...['--per-minute', '1000', '--per-day', String(perDay)],
        );
      await workplace.run('migrate');
      const [zoo, wild, old] = await Promise.all([issue(1_000), issue(1), issue(10)]);
      const fresh = await workplace.json('keys', 'rotate', old.id, '--grace', '1h');

      const first = await workplace.serve();
      const get = (key?: string) => new Client(first.origin, key).get('/v1/pets');
      const client = new Client(first.origin, zoo.key);
      // A key is there, so this start has offered no animals.
      expect((await client.get('/v1/pets')).text).toBe('[]');
      for (let request = 1; request < 40; request++) await client.get('/v1/pets');
      await eventually(async () => (await get(wild.key)).text.includes('key_banned'));
      for (const key of [old.key, fresh.key, old.key]) await get(key);
      for (let request = 0; request < 3; request++) expect((await get()).status).toBe(401);
      // Within a second: that is asserted beside the journal.
      const expected = { [zoo.id]: 40, [old.id]: 3, 'ip:127.0.0.1': 3 };
      const asked = { [zoo.id]: 40, [old.id]: 3 };
      await eventually(() => {
        const { used, banned, history } = saved(workplace.databaseFile);
        const isSaved = has(used, expected) && has(history, asked);
        return Promise.resolve(isSaved && banned.includes(wild.id));
      });
      await first.stop('SIGKILL');

      const [usage, second] = await Promise.all([
        workplace.json('keys', 'usage', zoo.id),
        workplace.serve(),
      ]);
      expect(usage.day.used).toBe(40);
      expect(admitted(usage)).toBe(40);
      const again = (key?: string) => new Client(second.origin, key).get('/v1/pets');
      expect((await again(zoo.key)).headers['ratelimit']).toMatch(/"day";r=959;/);
      expect((await again(wild.key)).json().code).toBe('key_banned');
      expect((await again()).status).toBe(429);
      expect((await again(fresh.key)).headers['x-ratelimit-remaining']).toBe('6');
      const [shown, told] = await Promise.all([
        workplace.run('keys', 'show', wild.id),
        workplace.run('keys', 'usage', wild.id),
      ]);
      expect(shown.stdout).toMatch(/Status +banned until 20/);
      expect(told.stdout).toMatch(/Status +banned until 20/);
      await workplace.json('keys', 'unban', wild.id);
      await eventually(async () => (await again(wild.key)).json().code !== 'key_banned');
      const both = () =>
        Promise.all([old, fresh].map(({ id }) => workplace.json('keys', 'usage', id)));
      // What was told before the kill, and what came since.
      await eventually(async () =>
        (await both()).every((of) => of.day.used === 4 && admitted(of) === 4),
      );
      expect(await second.stop()).toBe(0);
    }),
  );

  it('says in one line what is wrong, and exits 2 where it was called wrongly, else 1', async () => {
    using workplace = new Workplace();
    const failing: [string[], number][] = [
      [['keys', 'issue', '--plan', 'free', '--json'], 2],
      [['keys', 'show', 'key_nobody', '--json'], 1],
    ];
    await Promise.all(
      failing.map(async ([argv, exit]) => {
        const { code, stdout, stderr } = await workplace.run(...argv);
        expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
        expect(stderr).toMatch(/^error: [^\n]+\n$/);
      }),
    );
  });
});

const has = (counts: Map<string, number>, expected: Record<string, number>) =>
  Object.entries(expected).every(([of, count]) => counts.get(of) === count);

/** What was admitted, by the history. */
const admitted = ({ hours }: { hours: { admitted: number }[] }) =>
  hours.reduce((sum, hour) => sum + hour.admitted, 0);

interface Saved {
  used: Map<string, number>;
  /** Of each client, the answers with 200. */
  history: Map<string, number>;
  banned: string[];
}

/** What is in the database by now, by the id of the client or the address: in rows, or in a later journal. */
function saved(file: string): Saved {
  const database = new Database(file, { readonly: true });
  try {
    const counts = database
      .prepare<[], [string, number]>(
        `SELECT subject, day_used FROM rate_limit_counters UNION ALL SELECT * FROM
         (SELECT value ->> 0, value ->> 4 FROM rate_limit_journal, json_each(counts) ORDER BY sequence)`,
      )
      .raw()
      .all();
    const bans = database.prepare<[], string>('SELECT subject FROM rate_limit_bans').pluck().all();
    const journal = database
      .prepare<[], [string, number]>(
        `SELECT client_id, used FROM usage_hours WHERE status = 200 UNION ALL SELECT * FROM
         (SELECT value ->> 0, value ->> 5 FROM usage_journal, json_each(counts)
          WHERE value ->> 3 = 200 ORDER BY sequence)`,
      )
      .raw()
      .all();
    return { used: new Map(counts), history: new Map(journal), banned: bans };
  } finally {
    database.close();
  }
}
