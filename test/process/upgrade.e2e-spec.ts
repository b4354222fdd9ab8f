import { randomUUID } from 'node:crypto';
import { Client } from '../support/client.js';
import { describeWith, findEngine } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Nginx } from '../support/nginx.js';
import type { Served, Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { workplaceWithToys } from '../support/toys.js';

// A test here starts the program several times, on a machine that may be busy.
jest.setTimeout(180_000);
const PATIENCE_MS = 60_000;

const CALLERS = 4;
const PAUSE_MS = 15;
const ENOUGH = 40;
const rex = { name: 'Rex', categoryId: 7 };

/** The next version: it adds an operation and its table, and a column to one that the version before uses. */
const NEWER = ['--config', 'newer.js'];
const NEWER_CONFIG = `
import { defineConfig } from 'pet-store-service';
import { toys } from './toys.js';
class AddMood1700000000001 {
  name = 'AddMood1700000000001';
  async up(runner) {
    await runner.query('ALTER TABLE pets ADD COLUMN mood varchar(20)');
  }
  async down(runner) {
    await runner.query('ALTER TABLE pets DROP COLUMN mood');
  }
}
export default defineConfig({
  extensions: [{ ...toys, migrations: [...toys.migrations, AddMood1700000000001] }],
});
`;

function twoVersions(env: Record<string, string> = {}): Workplace {
  const workplace = workplaceWithToys(
    { LOG_LEVEL: 'warn', NODE_ENV: 'production', ...env },
    'newer.js',
  );
  workplace.write('newer.js', NEWER_CONFIG);
  return workplace;
}

async function issueKey(workplace: Workplace): Promise<string> {
  const quota = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];
  const { key } = await workplace.json('keys', 'issue', '--name', 'load', ...quota);
  return key as string;
}

async function isNewer({ origin }: Served): Promise<boolean> {
  const document = await fetch(`${origin}/openapi.json`);
  return (await document.text()).includes('"/toys"');
}

/** Adds an animal, and resolves to its number once it is there and can be read. */
type Round = () => Promise<number>;

/** Callers who go on until it is over, and what became of their rounds. */
class Load implements AsyncDisposable {
  readonly created: number[] = [];
  readonly failures: string[] = [];
  private isOver = false;
  private readonly callers: Promise<void>[];

  constructor(rounds: readonly Round[]) {
    this.callers = rounds.map((round) => this.call(round));
  }

  /** Waits until so many more rounds were made. */
  more(): Promise<void> {
    const until = this.created.length + this.failures.length + ENOUGH;
    const isThere = () => this.created.length + this.failures.length >= until;
    return eventually(() => Promise.resolve(isThere()), PATIENCE_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isOver = true;
    await Promise.all(this.callers);
  }

  private async call(round: Round): Promise<void> {
    while (!this.isOver) {
      try {
        this.created.push(await round());
      } catch (error) {
        this.failures.push(String(error));
      }
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    }
  }
}

const inOrder = (ids: readonly number[]) => ids.toSorted((one, other) => one - other);

const missing = findEngine('nginx') === undefined ? 'nginx' : 'postgres';

describeWith(missing, 'two nodes on PostgreSQL, behind nginx', () => {
  /** Every status but this one fails the round: nothing is tried again. */
  function roundOf(client: Client): Round {
    const ok = async (answer: ReturnType<Client['get']>, expected: number) => {
      const { status, text, json } = await answer;
      if (status !== expected) throw new Error(`${status}: ${text}`);
      return json();
    };
    return async () => {
      const key = { 'idempotency-key': randomUUID() };
      const { id } = await ok(client.post('/v1/pets', rex, key), 201);
      await ok(client.get(`/v1/pets/${id}`), 200);
      await ok(client.get('/v1/pets'), 200);
      return id as number;
    };
  }

  it('are brought to the next version and back, one by one, and no request fails', async () => {
    await using server = await PostgresServer.start(findEngine('postgres')!);
    const url = await server.createDatabase();
    using workplace = twoVersions({ DATABASE_URL: url });
    await workplace.json('migrate');
    const ports = [await freePort(), await freePort()] as const;
    const start = (node: 0 | 1, ...args: string[]) =>
      workplace.serve({ PORT: String(ports[node]) }, ...args);
    const [key, ...nodes] = await Promise.all([issueKey(workplace), start(0), start(1)]);
    await using nginx = new Nginx(findEngine('nginx')!, await freePort(), ports);
    await nginx.start();
    const clients = Array.from(
      { length: CALLERS },
      () => new Client(`http://127.0.0.1:${nginx.port}`, key),
    );
    const load = new Load(clients.map(roundOf));
    try {
      await load.more();
      const { extensions } = await workplace.json('migrate', ...NEWER);
      expect(extensions.toys).toHaveLength(2);
      // The version before serves on, on the schema of the next one.
      await load.more();
      for (const version of [NEWER, []]) {
        for (const node of [0, 1] as const) {
          expect(await nodes[node].stop()).toBe(0);
          await load.more();
          nodes[node] = await start(node, ...version);
          expect(await isNewer(nodes[node])).toBe(version === NEWER);
          await load.more();
        }
      }
    } finally {
      await load[Symbol.asyncDispose]();
      for (const client of clients) client.close();
    }
    expect([...new Set(load.failures)]).toEqual([]);
    const rows = (await server.query('SELECT id FROM pets', url)) as { id: string }[];
    expect(inOrder(rows.map(({ id }) => Number(id)))).toEqual(inOrder(load.created));
    expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
  });
});
