import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { Pet } from 'pet-store-service';
import { startTestStore, type TestStore } from 'pet-store-service/testing';
import { DataSource, MoreThan } from 'typeorm';
import { storeOrders } from '../src/index.js';
import { OrdersService } from '../src/orders.service.js';
import { Sales } from '../src/sales.js';

interface OrderAnswer {
  id: number;
  petId: number;
  status: string;
}

const { TEST_DATABASE_URL } = process.env;

describe('store orders', () => {
  let store: TestStore;
  let key: string;
  before(async () => {
    store = await startTestStore({
      extensions: [storeOrders],
      ...(TEST_DATABASE_URL !== undefined && { databaseUrl: TEST_DATABASE_URL }),
    });
    key = await store.issueKey({
      scopes: ['orders:read', 'orders:write', 'pets:read', 'pets:write'],
    });
  });
  after(() => store.close());

  const post = (path: string, body?: object, headers: Record<string, string> = {}) =>
    store.fetch(path, {
      key,
      method: 'POST',
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const read = async <Body>(answer: Response): Promise<Body> => (await answer.json()) as Body;

  async function newPet(status = 'available'): Promise<number> {
    const answer = await post('/v1/pets', { name: 'Rex', categoryId: 7, status });
    return (await read<{ id: number }>(answer)).id;
  }

  async function statusOf(petId: number): Promise<string> {
    return (await read<OrderAnswer>(await store.fetch(`/v1/pets/${petId}`, { key }))).status;
  }

  async function expectError(answer: Response, status: number, code: string): Promise<void> {
    const body = await read<{ code: string; status: number }>(answer);
    assert.deepEqual([answer.status, body.code, body.status], [status, code, status]);
  }

  it('are placed, found and completed, and change the status of the pet', async () => {
    const petId = await newPet();
    const placed = await post('/v1/store/orders', { petId, quantity: 1 });
    assert.equal(placed.status, 201);
    const order = await read<OrderAnswer>(placed);
    assert.match(placed.headers.get('location')!, new RegExp(`/v1/store/orders/${order.id}$`));
    assert.equal(await statusOf(petId), 'pending');

    const found = await store.fetch(`/v1/store/orders/${order.id}`, { key });
    assert.deepEqual(await found.json(), order);

    const completed = await post(`/v1/store/orders/${order.id}/complete`);
    assert.equal((await read<OrderAnswer>(completed)).status, 'completed');
    assert.equal(await statusOf(petId), 'sold');
    await expectError(await post(`/v1/store/orders/${order.id}/cancel`), 409, 'order_closed');
  });

  it('emit an event for each change of the status of the pet', async () => {
    const listener = mock.method(store.get(Sales), 'statusChanged');
    const petId = await newPet();
    const { id } = await read<OrderAnswer>(await post('/v1/store/orders', { petId, quantity: 1 }));
    await post(`/v1/store/orders/${id}/complete`);
    // Event handlers run after the response.
    while (listener.mock.callCount() < 2) await new Promise((resume) => setImmediate(resume));
    const pets = listener.mock.calls.map(({ arguments: [event] }) => event.pet);
    assert.deepEqual(
      pets.map((pet) => [pet.id, pet.status]),
      [
        [BigInt(petId), 'pending'],
        [BigInt(petId), 'sold'],
      ],
    );
    listener.mock.restore();
  });

  it('make the pet available again when they are cancelled', async () => {
    const petId = await newPet();
    const { id } = await read<OrderAnswer>(await post('/v1/store/orders', { petId, quantity: 1 }));
    assert.equal((await post(`/v1/store/orders/${id}/cancel`)).status, 200);
    assert.equal(await statusOf(petId), 'available');
    assert.equal((await post('/v1/store/orders', { petId, quantity: 1 })).status, 201);
  });

  it('are placed once for a pet that 50 clients order at the same time', async () => {
    const petId = await newPet();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => post('/v1/store/orders', { petId, quantity: 1 })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array<number>(49).fill(409)]);
  });

  it('are placed once for repeated requests with one Idempotency-Key', async () => {
    const petId = await newPet();
    const header = { 'idempotency-key': `order-of-${petId}` };
    const first = await post('/v1/store/orders', { petId, quantity: 1 }, header);
    const again = await post('/v1/store/orders', { petId, quantity: 1 }, header);
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(await again.text(), await first.text());
  });

  it('are listed by status, page by page', async () => {
    const buyer = await store.issueKey({ scopes: ['orders:read', 'orders:write'] });
    const ids: number[] = [];
    for (let count = 0; count < 5; count++) {
      const petId = await newPet();
      const placed = await store.fetch('/v1/store/orders', {
        key: buyer,
        method: 'POST',
        body: JSON.stringify({ petId, quantity: 1 }),
      });
      ids.push((await read<OrderAnswer>(placed)).id);
    }
    const listed: number[] = [];
    let next: string | undefined = '/v1/store/orders?status=placed&limit=2';
    while (next !== undefined) {
      const page: Response = await store.fetch(next, { key: buyer });
      listed.push(...(await read<OrderAnswer[]>(page)).map(({ id }) => id));
      const link: string | undefined = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
      next = link === undefined ? undefined : new URL(link).pathname + new URL(link).search;
    }
    assert.deepEqual(listed, ids);
  });

  it('are visible only to the client that placed them', async () => {
    const petId = await newPet();
    const { id } = await read<OrderAnswer>(await post('/v1/store/orders', { petId, quantity: 1 }));
    const other = await store.issueKey({ scopes: ['orders:read'] });
    const answer = await store.fetch(`/v1/store/orders/${id}`, { key: other });
    await expectError(answer, 404, 'order_not_found');
  });

  it('reject invalid requests', async () => {
    const [sold, unknown] = [await newPet('sold'), 9_007_199_254_740_000];
    const order = (petId: unknown, quantity = 1) => post('/v1/store/orders', { petId, quantity });
    await expectError(await order(sold), 409, 'pet_not_available');
    await expectError(await order(unknown), 404, 'pet_not_found');
    await expectError(await order('7'), 400, 'invalid_request');
    await expectError(await order(sold, 2), 400, 'invalid_request');
    await expectError(await store.fetch('/v1/store/orders/x', { key }), 404, 'not_found');
    await expectError(await store.fetch('/v1/store/orders'), 401, 'missing_api_key');
    const reader = await store.issueKey({ scopes: ['pets:read'] });
    const rejected = await store.fetch('/v1/store/orders', { key: reader });
    await expectError(rejected, 403, 'insufficient_scope');
  });

  it('count against the quota of the client', async () => {
    const limited = await store.issueKey({ scopes: ['orders:read'], perMinute: 2, perDay: 10 });
    const list = () => store.fetch('/v1/store/orders', { key: limited });
    assert.deepEqual([(await list()).status, (await list()).status], [200, 200]);
    await expectError(await list(), 429, 'rate_limit_exceeded');
    store.clock.advance(60);
    assert.equal((await list()).status, 200);
  });

  it('are cancelled once they are open for too long', async () => {
    const petId = await newPet();
    const order = await read<OrderAnswer>(await post('/v1/store/orders', { petId, quantity: 1 }));
    const orders = store.get(OrdersService);
    const placed = store.clock.now();
    await orders.cancelPlacedBefore(new Date(placed));
    assert.equal(await statusOf(petId), 'pending');
    assert.ok((await orders.cancelPlacedBefore(new Date(placed + 1))) >= 1);
    assert.equal(await statusOf(petId), 'available');
    const found = await store.fetch(`/v1/store/orders/${order.id}`, { key });
    assert.equal((await read<OrderAnswer>(found)).status, 'cancelled');
    assert.equal(await orders.cancelPlacedBefore(new Date(placed + 1)), 0);
  });

  it('are placed for 1,000 pets with one request, or for none', async () => {
    const pets = store.get(DataSource).getRepository(Pet);
    const last = await newPet();
    // TypeORM writes the IDs into the objects.
    const rex = () => ({ name: 'Rex', categoryId: 7n, status: 'available' as const });
    for (let count = 0; count < 1_000; count += 500) {
      await pets.insert(Array.from({ length: 500 }, rex));
    }
    const added = await pets.find({ where: { id: MoreThan(BigInt(last)) }, order: { id: 'DESC' } });
    const petIds = added.map(({ id }) => Number(id));
    const lines = petIds.map((petId) => ({ petId, quantity: 1 }));
    const bulk = (all: object[], headers = {}) =>
      post('/v1/store/bulk-orders', { lines: all }, headers);

    const sold = { petId: await newPet('sold'), quantity: 1 };
    await expectError(await bulk([...lines.slice(1), sold]), 409, 'pet_not_available');
    assert.equal(await statusOf(petIds[1]!), 'available');
    const unknown = { petId: 9_007_199_254_740_000, quantity: 1 };
    await expectError(await bulk([lines[0]!, unknown]), 404, 'pet_not_found');
    await expectError(await bulk([lines[0]!, lines[0]!]), 409, 'pet_not_available');
    const listener = mock.method(store.get(Sales), 'statusChanged');

    const header = { 'idempotency-key': `bulk-of-${last}` };
    const first = await bulk(lines, header);
    assert.equal(first.status, 201);
    const text = await first.text();
    const { orderIds } = JSON.parse(text) as { orderIds: number[] };
    assert.equal(orderIds.length, 1_000);
    const order = await store.fetch(`/v1/store/orders/${orderIds[0]}`, { key });
    assert.equal((await read<OrderAnswer>(order)).petId, petIds[0]);
    assert.equal(await statusOf(petIds.at(-1)!), 'pending');
    while (listener.mock.callCount() < 1_000) await new Promise((resume) => setImmediate(resume));
    listener.mock.restore();
    assert.equal(await (await bulk(lines, header)).text(), text);

    await expectError(await bulk([...lines, lines[0]!]), 400, 'invalid_request');
    await expectError(await bulk([]), 400, 'invalid_request');
    await expectError(await bulk([[]]), 400, 'invalid_request');
  });
});
