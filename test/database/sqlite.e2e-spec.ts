import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { connectTo, migrate } from '../support/data-source.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { lockWrites } from '../support/lock-writes.js';
import { startService, useService } from '../support/start-service.js';

/** As the service makes it. */
const PAGE_BYTES = 4_096;
const rex = { name: 'Rex', categoryId: 7 };

describe('the embedded database', () => {
  const { service, client } = useService();
  let dataSource: DataSource;
  beforeAll(() => (dataSource = service.store.app.get(DataSource)));

  const file = (): string => service.config.databaseUrl.slice('sqlite:'.length);

  it('syncs every commit', async () => {
    const [synchronous] = await dataSource.query('PRAGMA synchronous');
    const [journal] = await dataSource.query('PRAGMA journal_mode');
    expect(synchronous).toEqual({ synchronous: 2 });
    expect(journal).toEqual({ journal_mode: 'wal' });
  });

  it('is given up to be migrated where another process writes all the time, and can be again', async () => {
    const url = `sqlite:${file()}.busy`;
    const busy = await connectTo(url);
    const unlock = await lockWrites(url);
    try {
      await expect(migrate(busy)).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
      await unlock();
      expect(await migrate(busy)).not.toEqual([]);
    } finally {
      await unlock();
      await busy.destroy();
    }
  });

  it('answers 503 to what has to wait too long for a lock, and everything else meanwhile', async () => {
    await client.post('/v1/pets', rex);
    const unlock = await lockWrites(service.config.databaseUrl);
    try {
      const blocked = client.post('/v1/pets', rex);
      expect((await client.get('/v1/pets')).status).toBe(200);
      const answer = await blocked;
      expectError(answer, 503, 'service_unavailable');
      expectRateHeaders(answer);
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    } finally {
      await unlock();
    }
    expect((await client.post('/v1/pets', rex)).status).toBe(201);
  });

  it('answers 503 for what is on a damaged page, as often as it is asked for, and everything else', async () => {
    await using damaged = await startService();
    const reader = await damaged.client();
    const names = Array.from({ length: 200 }, (_none, each) => `${'x'.repeat(200)}${each}.`);
    const added = await Promise.all(names.map((name) => reader.post('/v1/pets', { ...rex, name })));
    const path = damaged.config.databaseUrl.slice('sqlite:'.length);
    await damaged.store.app.get(DataSource).query('PRAGMA wal_checkpoint(TRUNCATE)');
    const page = Math.floor(readFileSync(path).indexOf(names[100]!) / PAGE_BYTES);
    expect(page).toBeGreaterThan(0);
    const fd = openSync(path, 'r+');
    writeSync(fd, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, page * PAGE_BYTES);
    closeSync(fd);
    const { id } = added[100]!.json();
    for (let time = 0; time < 3; time++) {
      expectError(await reader.get(`/v1/pets/${id}`), 503, 'service_unavailable');
      expect((await reader.get(`/v1/pets/${added[0]!.json().id}`)).status).toBe(200);
    }
    const ready = await damaged.anonymous().get('/health/ready');
    expect(ready.status).toBe(503);
    expect(ready.json()).toMatchObject({ checks: { database: 'damaged' } });
  });
});
