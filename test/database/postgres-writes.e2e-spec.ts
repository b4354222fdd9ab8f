import { Client as PostgresClient } from 'pg';
import { Engine } from '../../src/database/engine.js';
import type { Work } from '../../src/database/statement.js';
import { IdempotencyService } from '../../src/idempotency/idempotency.service.js';
import type { NewPet } from '../../src/pets/pet.dto.js';
import { PetsRepository } from '../../src/pets/pets.repository.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import type { PostgresServer } from '../support/postgres.js';
import { serviceOnPostgres } from '../support/service-on-postgres.js';
import type { TestService } from '../support/start-service.js';

const DAY_MS = 86_400_000;

describeWith('postgres', 'Units of work of one turn on PostgreSQL', (initdb) => {
  const keep = closedAtEnd();
  let server: PostgresServer;
  let url: string;
  let service: TestService;
  beforeAll(async () => {
    ({ server, url, service } = await serviceOnPostgres(keep, initdb));
  });
  beforeEach(() => sql('TRUNCATE pets, idempotency_records'));

  const sql = (text: string): Promise<unknown[]> => server.query(text, url);
  const pet = (name: string): NewPet => ({ name, categoryId: 9223372036854775807n });
  const insert = (name: string) => service.store.app.get(PetsRepository).insert(pet(name));
  const write = (work: () => Work<string>) => service.store.app.get(Engine).write(work);
  const create = (key: string, name = key) =>
    service.store.app
      .get(IdempotencyService)
      .create({ keyId: 'k', idempotencyKey: key, bodyDigest: () => name }, function* () {
        const answer = yield* insert(name);
        return { answer, location: `/of/${name}` };
      });
  const nameIn = (answer: string) => (JSON.parse(answer) as { name: string }).name;
  const names = async () =>
    ((await sql('SELECT name FROM pets ORDER BY id')) as { name: string }[]).map(
      ({ name }) => name,
    );
  const range = (count: number) => Array.from({ length: count }, (_none, index) => `${index}`);
  const settled = (results: PromiseSettledResult<string>[]) =>
    results.map((result) => (result.status === 'fulfilled' ? nameIn(result.value) : 'failed'));

  it('share one transaction, in their order, and each is given its own animal', async () => {
    const odd = ['{a,"b"}', 'NULL', '\\', "'", '', '🐕\n'];
    const all = [...range(60), ...odd];
    const answers = await Promise.all(all.map((name) => write(() => insert(name))));
    expect(answers.map(nameIn)).toEqual(all);
    expect(answers[0]).toContain('"categoryId":9223372036854775807');
    expect(await names()).toEqual(all);
    expect(await sql('SELECT count(DISTINCT xmin::text)::int AS count FROM pets')).toEqual([
      { count: 1 },
    ]);
  });

  it('are done wholly or not at all, each for itself, where the database refuses some', async () => {
    await sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.name LIKE '%7' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION refuse()`);
    try {
      const all = range(40);
      const wanted = all.map((name) => (name.endsWith('7') ? 'failed' : name));
      const results = await Promise.allSettled(all.map((name) => write(() => insert(name))));
      expect(settled(results)).toEqual(wanted);
      const well = wanted.filter((name) => name !== 'failed').sort();
      expect((await names()).sort()).toEqual(well);
    } finally {
      await sql('DROP FUNCTION refuse CASCADE');
    }
  });

  it('leave nothing of one that fails by rule after it has written', async () => {
    const results = await Promise.allSettled(
      range(20).map((name) =>
        write(function* () {
          const answer = yield* insert(name);
          if (name === '7') throw new Error('rule');
          return answer;
        }),
      ),
    );
    expect(settled(results)).toEqual(range(20).map((name) => (name === '7' ? 'failed' : name)));
    expect(await names()).toHaveLength(19);
    expect(await names()).not.toContain('7');
  });

  it('remember each its own answer to its Idempotency-Key', async () => {
    const first = await Promise.all(range(30).map((key) => create(key)));
    const again = await Promise.all(range(30).map((key) => create(key)));
    expect(first.map(({ answer }) => nameIn(answer))).toEqual(range(30));
    expect(again).toEqual(first.map((creation) => ({ ...creation, replayed: true })));
    expect(await names()).toHaveLength(30);
  });

  it('take over the keys of yesterday, and no others', async () => {
    await Promise.all(range(10).map((key) => create(key)));
    await sql(`UPDATE idempotency_records SET created_at = created_at - ${DAY_MS}
      WHERE idempotency_key < '5'`);
    const again = await Promise.all(range(10).map((key) => create(key)));
    expect(again.map(({ replayed }) => replayed)).toEqual(range(10).map((key) => key >= '5'));
    expect(await names()).toHaveLength(15);
  });

  it('are done but for the one whose Idempotency-Key another node holds', async () => {
    const holder = new PostgresClient({ connectionString: url });
    await holder.connect();
    try {
      await holder.query(`BEGIN; INSERT INTO idempotency_records
        (key_id, idempotency_key, body_digest, answer, location, created_at)
        VALUES ('k', '7', '', '', '', 0)`);
      const results = await Promise.allSettled(range(20).map((key) => create(key)));
      const failed = results.flatMap((result, index) =>
        result.status === 'rejected' ? [[index, (result.reason as { code?: string }).code]] : [],
      );
      expect(failed).toEqual([[7, 'idempotency_key_in_use']]);
      expect(await names()).toHaveLength(19);
    } finally {
      await holder.end();
    }
    expect((await create('7')).replayed).toBe(false);
  });
});
