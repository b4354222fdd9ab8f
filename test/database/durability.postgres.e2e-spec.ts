import { describeWith } from '../support/engines.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { PostgresServer } from '../support/postgres.js';
import { jsonInProcess } from '../support/run-program.js';
import { startService } from '../support/start-service.js';

describeWith('postgres', 'a PostgreSQL whose database turns synchronous_commit off', (initdb) => {
  const keep = closedAtEnd();

  it('loses no acknowledged pet in a crash', async () => {
    // The WAL writer would flush the pets before the crash.
    const server = keep(await PostgresServer.start(initdb, 'wal_writer_delay=10s'));
    const url = await server.createDatabase();
    await jsonInProcess(url, 'migrate');
    const name = url.split('/').at(-1)!;
    await server.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const service = keep(await startService({ env: { DATABASE_URL: url } }));
    const client = await service.client();
    for (const categoryId of [1, 2, 3]) {
      const { status } = await client.post('/v1/pets', { name: 'Rex', categoryId });
      expect(status).toBe(201);
    }
    await server.crash();
    await server.run();
    expect(await server.query('SELECT category_id FROM pets ORDER BY id', url)).toHaveLength(3);
  });
});
