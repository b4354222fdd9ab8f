import { type Answer, Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { lockWrites } from '../support/lock-writes.js';
import { PostgresServer } from '../support/postgres.js';
import { startService } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7 };

describeWith('postgres', 'Idempotency-Key on two nodes', (initdb) => {
  const keep = closedAtEnd();
  let server: PostgresServer;
  let url: string;
  let clients: Client[];
  beforeAll(async () => {
    server = keep(await PostgresServer.start(initdb));
    url = await server.createDatabase();
    const env = { DATABASE_URL: url };
    const one = keep(await startService({ env, migrate: true }));
    const other = keep(await startService({ env }));
    const { key } = await one.client();
    clients = [one, other].map(({ origin }) => new Client(origin, key));
  });

  const post = (node: number, key: string): Promise<Answer> =>
    clients[node]!.post('/v1/pets', { ...rex, name: key }, { 'idempotency-key': key });
  const animals = async (name: string): Promise<number> =>
    (await server.query(`SELECT 1 FROM pets WHERE name = '${name}'`, url)).length;

  it('creates one animal, however many come at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_none, index) => post(index % 2, 'at once')),
    );
    const created = answers.filter(({ status }) => status === 201);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers) {
      if (answer.status !== 201) expectError(answer, 409, 'idempotency_key_in_use');
    }
    expect(await animals('at once')).toBe(1);
  });

  it('is in use on one while the other is at it', async () => {
    const unlock = await lockWrites(url);
    const first = post(0, 'slow');
    try {
      await eventually(
        async () => (await server.query('SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0,
      );
      expectError(await post(1, 'slow'), 409, 'idempotency_key_in_use');
    } finally {
      await unlock();
    }
    expect((await first).status).toBe(201);
    expect((await post(1, 'slow')).headers['idempotent-replayed']).toBe('true');
    expect(await animals('slow')).toBe(1);
  });

  it.each([
    ['idempotency_records', 'UPDATE'],
    ['idempotency_records', 'INSERT'],
    ['pets', 'INSERT'],
  ])('leaves neither animal nor record where %s refuses an %s', async (table, event) => {
    const name = `refused ${table} ${event}`;
    await server.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
       CREATE TRIGGER refuse BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`,
      url,
    );
    try {
      expect((await post(0, name)).status).toBe(500);
    } finally {
      await server.query('DROP FUNCTION refuse CASCADE', url);
    }
    expect(await animals(name)).toBe(0);
    const answer = await post(1, name);
    expect(answer.status).toBe(201);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
  });
});
