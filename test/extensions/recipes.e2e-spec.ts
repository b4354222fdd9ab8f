import { Module, type Type } from '@nestjs/common';
import { CONTROLLER_WATERMARK, INJECTABLE_WATERMARK } from '@nestjs/common/constants.js';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  DataSource,
  getMetadataArgsStorage,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import { type Extension, Pet, PageQuery } from '../../src/index.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { runSnippet, snippetsOf } from '../support/snippets.js';
import { onPostgres, startService, useService } from '../support/start-service.js';

const snippets = snippetsOf('docs/recipes.md');

/** The tables of the recipes that do not show their migration. */
class CreateTables1789000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of [
      'labels (id bigint PRIMARY KEY, text varchar(255) NOT NULL, version integer NOT NULL)',
      'shelves (id bigint PRIMARY KEY, is_removed integer NOT NULL)',
      'boxes (id bigint PRIMARY KEY, removed_at varchar(32))',
      'chips (code varchar(15) PRIMARY KEY)',
    ]) {
      await runner.query(`CREATE TABLE ${table}`);
    }
  }

  async down(): Promise<void> {}
}

interface Recipe {
  title: string;
  exported: Record<string, unknown>;
  extension: Extension;
}

/** An extension of what a recipe exports. */
function recipeOf([title, code]: [string, string]): Recipe {
  const exported = runSnippet(code, require);
  const classes = Object.values(exported).filter((each) => typeof each === 'function') as Type[];
  const tables = getMetadataArgsStorage().tables.map(({ target }) => target);
  const has = (mark: string) => classes.filter((each) => Reflect.hasMetadata(mark, each));
  @Module({
    imports: [TypeOrmModule.forFeature(classes.filter((each) => tables.includes(each)))],
    controllers: has(CONTROLLER_WATERMARK),
    providers: has(INJECTABLE_WATERMARK),
    exports: has(INJECTABLE_WATERMARK),
  })
  class RecipeModule {}
  const [errors] = Object.entries(exported).filter(([name]) => name.endsWith('Errors'));
  const extension = {
    name: title.toLowerCase().replaceAll(' ', '-'),
    module: RecipeModule,
    migrations: classes.filter(({ name }) => /\d{13}$/.test(name)),
    ...(errors && { errors: errors[1] }),
  } as Extension;
  return { title, exported, extension };
}

const recipes = [...snippets].map(recipeOf);
const tables: Extension = {
  name: 'tables',
  module: class TablesModule {},
  migrations: [CreateTables1789000000000],
};

/** An exported class. Its shape is that of the snippet, which the compiler checks elsewhere. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
function exportOf(title: string, name: string): Type<any> {
  const { exported } = recipes.find((each) => each.title === title)!;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
  return exported[name] as Type<any>;
}

describe('the recipe', () => {
  const clock = new FakeClock();
  const extensions = [tables, ...recipes.map(({ extension }) => extension)];
  const { service, client } = useService({ extensions, clock, migrate: true });
  const dataSource = () => service.store.app.get(DataSource);
  const provider = (title: string, name: string) =>
    service.store.app.get(exportOf(title, name), { strict: false });
  const newPet = (name: string, headers = {}) =>
    client.post('/v1/pets', { name, categoryId: 7 }, headers);

  describe('of optimistic locking', () => {
    const path = '/v1/labels/1';
    const put = (text: string, headers: Record<string, string>) =>
      client.post(path, { text }, headers, 'PUT');
    beforeAll(() =>
      dataSource()
        .getRepository(exportOf('Optimistic locking', 'Label'))
        .insert({ id: 1n, text: 'first', version: 1 }),
    );

    it('requires If-Match, and rejects a tag that is not the latest', async () => {
      const read = await client.get(path);
      expect([read.json(), read.headers.etag]).toEqual([{ text: 'first' }, '"1"']);
      expectError(await put('x', {}), 428, 'if_match_required');
      const changed = await put('second', { 'if-match': '"1"' });
      expect([changed.status, changed.headers.etag]).toEqual([200, '"2"']);
      expectError(await put('x', { 'if-match': '"1"' }), 412, 'label_changed');
      expectError(await put('x', { 'if-match': 'nonsense' }), 412, 'label_changed');
      expect((await client.get(path)).json()).toEqual({ text: 'second' });
      const missing = { method: 'PUT', headers: { 'content-type': 'application/json' } };
      const call = { ...missing, headers: { ...missing.headers, 'if-match': '"1"' } };
      const other = await client.send('/v1/labels/2', { ...call, body: '{"text":"x"}' });
      expectError(other, 404, 'not_found');
    });

    it('accepts one of many simultaneous changes', async () => {
      const { etag } = (await client.get(path)).headers;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => put(`change ${index}`, { 'if-match': etag! })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array<number>(19).fill(412)]);
    });
  });

  it('of an outbox has a row for each committed pet, and for no other', async () => {
    const outbox = provider('Outbox', 'PetOutbox');
    const drained = async (): Promise<bigint[]> => {
      const petIds: bigint[] = [];
      await outbox.drain((petId: bigint) => Promise.resolve(petIds.push(petId)));
      return petIds;
    };
    await drained();
    const plain = await newPet('Plain');
    const keyed = await newPet('Keyed', { 'idempotency-key': 'outbox' });
    await newPet('Keyed', { 'idempotency-key': 'outbox' });
    const [kept] = await dataSource().transaction(async (manager) => {
      return (await manager.insert(Pet, { name: 'Kept', categoryId: 7n })).identifiers;
    });
    const undone = dataSource().transaction(async (manager) => {
      await manager.insert(Pet, { name: 'Undone', categoryId: 7n });
      throw new Error('rolled back');
    });
    await expect(undone).rejects.toThrow('rolled back');
    const expected = [plain.json().id, keyed.json().id, kept!.id as bigint].map(BigInt);
    const failing = outbox.drain(() => Promise.reject(new Error('not sent')));
    await expect(failing).rejects.toThrow('not sent');
    expect(await drained()).toEqual(expected);
    expect(await drained()).toEqual([]);
  });

  describe('of soft delete', () => {
    it('hides the rows of a table gateway', async () => {
      const Shelf = exportOf('Soft delete', 'Shelf');
      const shelves = provider('Soft delete', 'ShelvesService');
      const table = dataSource().getRepository(Shelf);
      await table.insert([1n, 2n, 3n].map((id) => ({ id, isRemoved: 0 })));
      await shelves.remove(2n);
      const query = Object.assign(new PageQuery(), { limit: 10 });
      const { items } = await shelves.list(query);
      expect(items.map(({ id }: { id: bigint }) => id)).toEqual([1n, 3n]);
      expect([await shelves.find(1n), await shelves.find(2n)]).toEqual([
        { id: 1n, isRemoved: 0 },
        undefined,
      ]);
      expect(await table.count()).toBe(3);
    });

    it('hides the rows of a repository, and restores them', async () => {
      const boxes = provider('Soft delete', 'BoxesService');
      const table = dataSource().getRepository(exportOf('Soft delete', 'Box'));
      const ids = async () => (await boxes.list()).map(({ id }: { id: bigint }) => id);
      await table.insert([1n, 2n, 3n].map((id) => ({ id })));
      await boxes.remove(2n);
      expect(await ids()).toEqual([1n, 3n]);
      expect(await table.count({ withDeleted: true })).toBe(3);
      await boxes.restore(2n);
      expect(await ids()).toEqual([1n, 2n, 3n]);
    });
  });

  it('of unique values responds with an own code, with and without a key', async () => {
    const add = (code: string, headers = {}) => client.post('/v1/chips', { code }, headers);
    const code = '123456789012345';
    const added = await add(code);
    expect(added.headers.location).toMatch(/\/v1\/chips\/123456789012345$/);
    expectError(await add(code), 409, 'chip_taken');
    expectError(await add(code, { 'idempotency-key': 'chip' }), 409, 'chip_taken');
    expectError(await add('x'), 400, 'invalid_request');
  });

  describe('of GraphQL', () => {
    const run = (query: string, variables?: object) =>
      client.post('/v1/graphql', { query, variables });

    it('runs a query with its variables', async () => {
      const { id } = (await newPet('Rex')).json();
      const found = await run('query Q($id: ID!) { pet(id: $id) { id name } }', { id });
      expectRateHeaders(found);
      expect([found.status, found.json()]).toEqual([
        200,
        { data: { pet: { id: String(id), name: 'Rex' } } },
      ]);
      const unknown = await run('{ pet(id: "9007199254740000") { id } }');
      expect(unknown.json()).toEqual({ data: { pet: null } });
    });

    it('rejects a broken, an invalid and a long query', async () => {
      expectError(await run('{'), 400, 'invalid_request');
      expectError(await run(`{ ${'pet(id: 1) { id } '.repeat(30)} }`), 400, 'invalid_request');
      const invalid = await run('{ pet(id: 1) { owner } }');
      expect(invalid.json().errors[0].message).toContain('Cannot query field "owner"');
    });

    it('applies the key, the scope and the quota', async () => {
      const query = { query: '{ pet(id: 1) { id } }' };
      const anonymous = service.anonymous();
      expectError(await anonymous.post('/v1/graphql', query), 401, 'missing_api_key');
      const writer = await service.client({ scopes: ['pets:write'] });
      expectError(await writer.post('/v1/graphql', query), 403, 'insufficient_scope');
      const poor = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 10 });
      expect((await poor.post('/v1/graphql', query)).status).toBe(200);
      expectError(await poor.post('/v1/graphql', query), 429, 'rate_limit_exceeded');
      for (const each of [anonymous, writer, poor]) each.close();
    });
  });

  it('of server-sent events sends a pet as it is created, to a caller with a key', async () => {
    expectError(await service.anonymous().get('/v1/pet-events'), 401, 'missing_api_key');
    const leave = new AbortController();
    const stream = await fetch(`${service.origin}/v1/pet-events`, {
      headers: { authorization: `Bearer ${client.key}` },
      signal: leave.signal,
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.headers.get('ratelimit')).toMatch(/^"minute"/);
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream.body!) text += Buffer.from(chunk as Uint8Array).toString();
    })().catch(() => undefined);
    await newPet('Streamed');
    await eventually(() => Promise.resolve(text.includes('"Streamed"')));
    expect(text).toMatch(/event: pet\.created\n/);
    expect(text).toMatch(/data: {"id":\d+,"name":"Streamed","categoryId":7/);
    leave.abort();
    await reading;
  });

  it('of CSV exports every pet, escaped', async () => {
    const names = ['a "quoted", name', '=1+1'];
    for (const name of names) await newPet(name);
    const pets = dataSource().getRepository(Pet);
    // TypeORM writes the ids into the objects.
    const many = () => Array.from({ length: 400 }, () => ({ name: 'Many', categoryId: 1n }));
    for (let count = 0; count < 3; count++) await pets.insert(many());
    const { headers, text } = await client.get('/v1/exports/pets.csv');
    expect(headers['content-type']).toBe('text/csv');
    expect(headers['content-disposition']).toBe('attachment; filename="pets.csv"');
    const lines = text.split('\r\n');
    expect(lines[0]).toBe('id,name,status');
    expect(lines).toHaveLength((await pets.count()) + 2);
    expect(text).toContain(',"a ""quoted"", name",');
    expect(text).toContain(`,"'=1+1",`);
  });

  it('of a scheduled job runs it on one node at a time', async () => {
    // On SQLite, there is one node.
    const other = onPostgres
      ? await startService({ extensions, clock, env: { DATABASE_URL: service.config.databaseUrl } })
      : service;
    const jobs = [service, other].map(({ store }) =>
      store.app.get(exportOf('Scheduled job', 'ReportJob'), { strict: false }),
    );
    const runs = async () => {
      const done = await Promise.all([...jobs, ...jobs].map((job) => job.runIfDue()));
      return done.filter(Boolean).length;
    };
    expect(await runs()).toBe(1);
    clock.advance(59 * 60_000);
    expect(await runs()).toBe(0);
    clock.advance(60_000);
    expect(await runs()).toBe(1);
    if (other !== service) await other.close();
  });
});
