import { Client } from '../support/client.js';
import { runInProcess } from '../support/run-program.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { PostgresServer } from '../support/postgres.js';
import { startService, type TestService } from '../support/start-service.js';
import { withinOne } from '../support/undisturbed.js';

// PostgreSQL starts twice, which takes its time on a busy machine.
jest.setTimeout(180_000);

const REX = { name: 'Rex', categoryId: 1 };
const DAY_LIMIT = 3;

describeWith(
  'postgres',
  'a database brought back to a point in time by PostgreSQL itself',
  (initdb) => {
    const environment = { ...process.env };
    afterEach(() => {
      process.env = { ...environment };
    });

    /** What `petstore` says of it, a command run in this process. */
    const json = async (...argv: string[]) =>
      JSON.parse((await runInProcess(...argv, '--json')).out) as Record<string, unknown>;

    it(
      'has all that was acknowledged by then, counts and bans too, and doctor finds no fault',
      withinOne('day', async () => {
        await using server = await PostgresServer.start(initdb, { archives: true });
        const env = { DATABASE_URL: await server.createDatabase(), BAN_AFTER_REJECTIONS: '1' };
        Object.assign(process.env, { ...env, PORT: '0', METRICS_PORT: '0' });
        const start = (): Promise<TestService> => startService({ env, migrate: true });

        const acknowledged: string[] = [];
        const [writer, banned] = await (async () => {
          await using service = await start();
          await server.backUp();
          const writer = await service.client();
          const banned = await service.client({
            plan: 'enterprise',
            perMinute: 1,
            perDay: DAY_LIMIT,
          });
          for (let animal = 0; animal < 20; animal++) {
            acknowledged.push((await writer.post('/v1/pets', REX)).text);
          }
          await eventually(async () => (await banned.get('/v1/nope')).text.includes('key_banned'));
          await eventually(
            async () => (await json('keys', 'show', banned.keyId!))['bannedUntil'] !== null,
          );
          return [writer, banned] as const;
        })();
        const then = await server.now();
        await server.query('DELETE FROM pets; DELETE FROM rate_limit_bans', env.DATABASE_URL);
        await server.recover(then);

        await using service = await start();
        expect(await json('keys', 'usage', writer.keyId!)).toMatchObject({
          day: { used: acknowledged.length },
        });
        const read = new Client(service.origin, writer.key);
        for (const text of acknowledged) {
          expect((await read.get(`/v1/pets/${JSON.parse(text).id}`)).text).toBe(text);
        }
        const still = await new Client(service.origin, banned.key).get('/v1/nope');
        expect(still.json().code).toBe('key_banned');
        // Of a busy machine the clock is told with a warning.
        expect((await json('doctor'))['status']).not.toBe('failed');
      }),
    );
  },
);
