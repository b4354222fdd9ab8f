import { Client as PostgresClient } from 'pg';
import { type Answer, Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeOnPostgres } from '../support/engines.js';
import { expectError } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7 };

describeOnPostgres('Idempotency-Key on two nodes', (server) => {
  const keep = closedAtEnd();
  let url: string;
  let nodes: TestService[];
  let clients: Client[];
  let keyId: string;
  beforeAll(async () => {
    url = await server.createDatabase();
    // The service chooses the isolation itself: with this one, requests would get 503 (40001).
    const name = url.split('/').at(-1)!;
    await server.query(`ALTER DATABASE ${name} SET default_transaction_isolation = serializable`);
    const env = { DATABASE_URL: url };
    nodes = [keep(await startService({ env, migrate: true })), keep(await startService({ env }))];
    const issued = await nodes[0]!.client();
    const { key } = issued;
    keyId = issued.keyId!;
    clients = nodes.map(({ origin }) => new Client(origin, key));
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
    const repeats = Array.from({ length: 50 }, (_none, index) => post(index % 2, 'at once'));
    for (const { status } of await Promise.all(repeats)) expect(status).toBe(201);
    expect(await animals('at once')).toBe(1);
  });

  it('replays a response that is committed while a request waits for its insert', async () => {
    await server.query(
      `CREATE SEQUENCE inserts;
       CREATE FUNCTION delay_first() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN
           IF nextval('inserts') = 1 THEN PERFORM pg_sleep(1); END IF;
           RETURN NEW;
         END $$;
       CREATE TRIGGER delay_first BEFORE INSERT ON idempotency_records
         FOR EACH ROW EXECUTE FUNCTION delay_first()`,
      url,
    );
    try {
      const answers = await Promise.all([post(0, 'delayed'), post(1, 'delayed')]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    } finally {
      await server.query('DROP FUNCTION delay_first CASCADE; DROP SEQUENCE inserts', url);
    }
    expect(await animals('delayed')).toBe(1);
  });

  it('is in use while another node has not committed, and free if that rolls back', async () => {
    const holder = new PostgresClient({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(
        `INSERT INTO idempotency_records (client_id, idempotency_key, body_digest, response, created_at)
          VALUES ($1, 'slow', '', '', $2)`,
        [keyId, Date.now()],
      );
      const others = Array.from({ length: 10 }, (_none, index) => post(1, `beside ${index}`));
      expectError(await post(0, 'slow'), 409, 'idempotency_key_in_use');
      for (const other of others) expect((await other).status).toBe(201);
      await holder.query('ROLLBACK');
    } finally {
      await holder.end();
    }
    expect((await post(0, 'slow')).status).toBe(201);
    expect((await post(1, 'slow')).headers['idempotent-replayed']).toBe('true');
    expect(await animals('slow')).toBe(1);
  });

  it.each([
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

  it('names no resource where the commit fails', async () => {
    await server.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
       CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON pets DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION refuse()`,
      url,
    );
    try {
      const answer = await post(0, 'not committed');
      expect(answer.status).toBe(500);
      expect(answer.headers['location']).toBeUndefined();
    } finally {
      await server.query('DROP FUNCTION refuse CASCADE', url);
    }
    expect(await animals('not committed')).toBe(0);
  });
});
