import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../support/client.js';
import { describeWith, findEngine } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { startLoad } from '../support/load.js';
import { Nginx } from '../support/nginx.js';
import { PostgresServer } from '../support/postgres.js';
import { workplaceWithOrders } from '../support/workplace-with-orders.js';

const CALLERS = 4;
const PAUSE_MS = 15;
const ROUNDS = 40;
const rex = { name: 'Rex', categoryId: 7 };

/**
 * The next version adds an operation, its table, and a column to a table that the previous version
 * uses.
 */
const NEWER = ['--config', 'newer.js'];
const NEWER_CONFIG = `
import { storeOrders } from './index.js';
class AddMood1800000000000 {
  name = 'AddMood1800000000000';
  async up(runner) {
    await runner.query('ALTER TABLE pets ADD COLUMN mood varchar(20)');
  }
  async down(runner) {
    await runner.query('ALTER TABLE pets DROP COLUMN mood');
  }
}
const migrations = [...storeOrders.migrations, AddMood1800000000000];
export default { extensions: [{ ...storeOrders, migrations }] };
`;

/**
 * Creates and reads a pet. Every response must have the expected status: nothing is retried.
 * @returns the ID
 */
async function round(client: Client): Promise<number> {
  const ok = async (answer: ReturnType<Client['get']>, expected: number) => {
    const { status, text, json } = await answer;
    if (status !== expected) throw new Error(`${status}: ${text}`);
    return json();
  };
  const { id } = await ok(client.post('/v1/pets', rex, { 'idempotency-key': randomUUID() }), 201);
  await ok(client.get(`/v1/pets/${id}`), 200);
  await ok(client.get('/v1/pets'), 200);
  await pause(PAUSE_MS);
  return id as number;
}

const missing = findEngine('nginx') === undefined ? 'nginx' : 'postgres';

describeWith(missing, 'two nodes on PostgreSQL, behind nginx', () => {
  it('no request fails while nodes are upgraded and rolled back one by one', async () => {
    await using server = await PostgresServer.start(findEngine('postgres')!);
    const url = await server.createDatabase();
    using workplace = workplaceWithOrders(
      { LOG_LEVEL: 'warn', NODE_ENV: 'production', DATABASE_URL: url },
      'newer.js',
    );
    workplace.write('newer.js', NEWER_CONFIG);
    await workplace.json('migrate');
    const quota = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];
    const { key } = await workplace.json('keys', 'issue', '--name', 'load', ...quota);
    const ports = [await freePort(), await freePort()] as const;
    const start = (node: 0 | 1, ...args: string[]) =>
      workplace.serve({ PORT: String(ports[node]) }, ...args);
    const nodes = [await start(0), await start(1)];
    await using nginx = new Nginx(findEngine('nginx')!, await freePort(), ports);
    await nginx.start();
    const origin = `http://127.0.0.1:${nginx.port}`;
    const callers = Array.from({ length: CALLERS }, () => new Client(origin, key));
    const load = startLoad(callers, round);
    const moreRounds = () => {
      const target = load.results.length + ROUNDS;
      return eventually(() => Promise.resolve(load.results.length >= target));
    };
    try {
      await moreRounds();
      const { migrations } = await workplace.json('migrate', ...NEWER);
      expect(migrations).toHaveLength(2);
      // The previous version serves on the schema of the next one.
      await moreRounds();
      for (const version of [NEWER, []]) {
        for (const node of [0, 1] as const) {
          expect(await nodes[node]!.stop()).toBe(0);
          await moreRounds();
          nodes[node] = await start(node, ...version);
          const document = await (await fetch(`${nodes[node].origin}/openapi.json`)).text();
          expect(document.includes('"/store/orders"')).toBe(version === NEWER);
          await moreRounds();
        }
      }
    } finally {
      await load.stop();
    }
    const rows = (await server.query('SELECT id FROM pets', url)) as { id: string }[];
    expect(new Set(rows.map(({ id }) => Number(id)))).toEqual(new Set(load.results));
    expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
  });
});
