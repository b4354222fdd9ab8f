import Database from 'better-sqlite3';
import { Client } from '../support/client.js';
import { Workplace } from '../support/petstore-process.js';

const ROUNDS = 5;
const ENTERPRISE = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];

describe('kill -9 at the moment of a 201', () => {
  const workplace = new Workplace();
  afterAll(() => workplace.remove());

  it('loses no acknowledged pet, and keeps each with the record that makes its repeat safe', async () => {
    await workplace.run('migrate');
    const { key } = await workplace.json('keys', 'issue', '--name', 'k', ...ENTERPRISE);
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const server = await workplace.serve({ LOG_LEVEL: 'warn' });
      const client = new Client(server.origin, key);
      const create = async (name: string): Promise<void> => {
        const answer = await client.post(
          '/v1/pets',
          { name, categoryId: round },
          { 'idempotency-key': `${round}/${name}` },
        );
        if (answer.status === 201) acknowledged.push(answer.text);
      };
      for (let turn = 0; turn < 10; turn++) {
        await Promise.all(Array.from({ length: 20 }, (_, index) => create(`Rex ${turn}/${index}`)));
      }
      // The first responses are complete; the last ones are cut off.
      const last = Array.from({ length: 20 }, (_, index) => create(`Last ${index}`));
      await Promise.race(last);
      await server.stop('SIGKILL');
      await Promise.allSettled(last);
      client.close();
    }

    const database = new Database(workplace.databaseFile, { readonly: true });
    const kept = new Set(
      database
        .prepare(`SELECT json_object('id', id, 'name', name, 'categoryId', category_id) FROM pets`)
        .pluck()
        .all(),
    );
    const records = database.prepare('SELECT count(*) FROM idempotency_records').pluck().get();
    const integrity = database.pragma('integrity_check', { simple: true });
    database.close();
    expect(integrity).toBe('ok');
    expect(records).toBe(kept.size);
    expect(acknowledged.length).toBeGreaterThan(ROUNDS * 200);
    expect(acknowledged.filter((pet) => !kept.has(pet))).toEqual([]);
  });
});
