import { describeOnPostgres } from '../support/engines.js';
import { useService } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7 };

describeOnPostgres('PostgreSQL under a running node', (server) => {
  const { service, client } = useService();

  let keys = 0;
  const everyKind = async (): Promise<number[]> => {
    const path = (await client.post('/v1/pets', rex)).headers.location?.replace(/^.*\/v1/, '/v1');
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => client.get('/v1/pets')),
      client.get(path ?? '/v1/pets/1'),
      client.post('/v1/pets', rex),
      client.post('/v1/pets', rex, { 'idempotency-key': `key ${keys++}` }),
    ]);
    return [...new Set(answers.map(({ status }) => status))].sort();
  };

  it.each([
    'ALTER TABLE pets ALTER COLUMN name TYPE varchar(300)',
    'ALTER TABLE pets ADD COLUMN unused text',
    'ALTER TABLE pets DROP COLUMN unused',
    'ALTER TABLE idempotency_records ALTER COLUMN body_digest TYPE varchar(300)',
    'ALTER TABLE api_keys ALTER COLUMN name TYPE varchar(300)',
  ])('answers as before after %s', async (change) => {
    // After this, every connection has prepared its statements.
    for (let round = 0; round < 3; round++) expect(await everyKind()).toEqual([200, 201]);
    await server.query(change, service.config.databaseUrl);
    expect(await everyKind()).toEqual([200, 201]);
    expect(await everyKind()).toEqual([200, 201]);
  });
});
