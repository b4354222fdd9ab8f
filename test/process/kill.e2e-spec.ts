import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';
import { jsonInProcess } from '../support/run-program.js';
import { withinOne } from '../support/undisturbed.js';

const SAVED_WITHIN_MS = 15_000;

describe('petstore serve, killed with SIGKILL', () => {
  it(
    'keeps counts, also those that rotated keys share, bans, and failures of an address',
    withinOne('day', async () => {
      using workplace = new Workplace({
        ...{ LOG_LEVEL: 'silent', BAN_AFTER_REJECTIONS: '2', FAILED_AUTH_PER_DAY: '3' },
      });
      const run = (...argv: string[]) => jsonInProcess(`sqlite:${workplace.databaseFile}`, ...argv);
      const issue = (perDay: number) =>
        run(
          ...['keys', 'issue', '--name', 'Zoo', '--plan', 'enterprise'],
          ...['--per-minute', '1000', '--per-day', String(perDay)],
        );
      await workplace.run('migrate');
      const [zoo, wild, old] = [await issue(1_000), await issue(1), await issue(10)];
      const fresh = await run('keys', 'rotate', old.id, '--grace', '1h');

      const first = await workplace.serve();
      const get = (key?: string) => new Client(first.origin, key).get('/v1/pets');
      const client = new Client(first.origin, zoo.key);
      // A key exists, so this start adds no pets.
      expect((await client.get('/v1/pets')).text).toBe('[]');
      for (let request = 1; request < 40; request++) await client.get('/v1/pets');
      await eventually(async () => (await get(wild.key)).text.includes('key_banned'));
      for (let request = 0; request < 3; request++) expect((await get()).status).toBe(401);
      for (const key of [old.key, fresh.key, old.key]) await get(key);
      // These counts are the latest: if they are saved, so are those of the address.
      await eventually(async () => {
        const [{ day }, { bannedUntil }, shared] = [
          await run('keys', 'usage', zoo.id),
          await run('keys', 'show', wild.id),
          await run('keys', 'usage', fresh.id),
        ];
        return day.used === 40 && bannedUntil !== null && shared.day.used === 3;
      }, SAVED_WITHIN_MS);
      await first.stop('SIGKILL');

      const second = await workplace.serve();
      const again = (key?: string) => new Client(second.origin, key).get('/v1/pets');
      expect((await again(zoo.key)).headers['ratelimit']).toMatch(/"day";r=959;/);
      expect((await again(wild.key)).json().code).toBe('key_banned');
      expect((await again()).status).toBe(429);
      expect((await again(fresh.key)).headers['x-ratelimit-remaining']).toBe('6');
      await run('keys', 'unban', wild.id);
      await eventually(async () => (await again(wild.key)).json().code !== 'key_banned');
      expect(await second.stop()).toBe(0);
    }),
  );
});
