import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DataSource } from 'typeorm';
import { Pets } from '../extensions/pets.js';
import { startTestStore, type TestStore } from '../testing.js';
import { petsExtension } from './pets.extension.js';

const { TEST_DATABASE_URL } = process.env;
const BIG = '9223372036854775807';

/** `petstore new extension pets` copies these tests, so they use the runner of Node. */
describe('pets', () => {
  let store: TestStore;
  let key: string;
  before(async () => {
    store = await startTestStore({
      extensions: [petsExtension],
      ...(TEST_DATABASE_URL !== undefined && { databaseUrl: TEST_DATABASE_URL }),
    });
    key = await store.issueKey();
  });
  after(() => store.close());

  const get = (path: string): Promise<Response> => store.fetch(path, { key });
  const add = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
    store.fetch('/v1/pets', { key, method: 'POST', body, headers });

  it('are added and found, with exact numbers', async () => {
    const added = await add(`{"name":"Rex","categoryId":${BIG},"status":"sold"}`);
    assert.equal(added.status, 201);
    const text = await added.text();
    assert.match(
      text,
      new RegExp(`^\\{"id":\\d+,"name":"Rex","categoryId":${BIG},"status":"sold"\\}$`),
    );
    const found = await get(new URL(added.headers.get('location')!).pathname);
    assert.equal(await found.text(), text);
  });

  it('are listed in pages', async () => {
    for (const name of ['Luna', 'Milo', 'Bella']) {
      await add(JSON.stringify({ name, categoryId: 7, status: 'pending' }));
    }
    const names: string[] = [];
    let next: string | undefined = '/v1/pets?status=pending&limit=2';
    while (next !== undefined) {
      const page: Response = await get(next);
      names.push(...((await page.json()) as { name: string }[]).map(({ name }) => name));
      const [, url] = /^<(.*)>; rel="next"$/.exec(page.headers.get('link') ?? '') ?? [];
      next = url && new URL(url).pathname + new URL(url).search;
    }
    assert.deepEqual(names, ['Luna', 'Milo', 'Bella']);
  });

  it('are added once with an Idempotency-Key', async () => {
    const body = '{"name":"Coco","categoryId":7}';
    const headers = { 'idempotency-key': 'once' };
    const [first, second] = [await add(body, headers), await add(body, headers)];
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.equal(await second.text(), await first.text());
    assert.equal((await add('{"name":"Leo","categoryId":7}', headers)).status, 422);
  });

  it('reject invalid requests', async () => {
    const statuses = await Promise.all([
      store.fetch('/v1/pets').then(({ status }) => status),
      get('/v1/pets?status=lost').then(({ status }) => status),
      get('/v1/pets/9000000').then(({ status }) => status),
      get('/v1/pets/1?x=1').then(({ status }) => status),
      add('{"name":" ","categoryId":7}').then(({ status }) => status),
      add('{"name":"Rex","categoryId":7,"id":7}').then(({ status }) => status),
    ]);
    assert.deepEqual(statuses, [401, 400, 404, 400, 400, 400]);
  });

  it('are given to other extensions', async () => {
    const { id } = (await (await add('{"name":"Nala","categoryId":7}')).json()) as { id: number };
    const pets = store.get<Pets>(Pets);
    await store.get<DataSource>(DataSource).transaction(async (manager) => {
      await pets.setStatus(BigInt(id), 'sold', manager);
    });
    assert.equal((await pets.find(BigInt(id)))?.status, 'sold');
  });

  it('have sample data', async () => {
    const dataSource = store.get<DataSource>(DataSource);
    assert.equal(await petsExtension.seed(dataSource), undefined);
    assert.equal(await petsExtension.seed(dataSource, 5), '5 sample pets');
  });
});
