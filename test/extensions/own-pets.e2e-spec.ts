import { DataSource } from 'typeorm';
import { PetStoreClient } from '../../clients/typescript/src/index.js';
import { storeOrders } from '../../examples/store-orders/src/index.js';
import type { Client } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { OutboxRow, ownPets } from '../support/own-pets.js';
import { useService } from '../support/start-service.js';

const BIG = '9223372036854775807';
const SCOPES = ['pets:read', 'pets:write', 'orders:read', 'orders:write'];

describe('an extension with the name pets', () => {
  const { service } = useService({ extensions: [ownPets, storeOrders] });
  /** Each test has a tenant without pets. */
  let tenant: Client;
  beforeEach(async () => (tenant = await service.client({ scopes: SCOPES })));
  afterEach(() => tenant.close());

  const add = (name: string, more: object = {}, headers = {}) =>
    tenant.post('/v1/pets', { name, categoryId: 7, ...more }, headers);
  const outbox = () => service.store.app.get(DataSource).manager.find(OutboxRow);

  it('takes the place of the built-in one, with its own members', async () => {
    const rex = { breed: 'Collie', photoUrl: 'https://example.com/rex.png' };
    const body = `{"name":"Rex","categoryId":${BIG},"status":"available","breed":"Collie","photoUrl":"${rex.photoUrl}"}`;
    const added = await tenant.post('/v1/pets', body);
    expect(added.status).toBe(201);
    const { id } = added.json();
    expect(added.headers.location).toMatch(new RegExp(`/v1/pets/${id}$`));
    const found = await tenant.get(`/v1/pets/${id}`);
    expect(found.text).toBe(added.text);
    expect(found.text).toContain(`"categoryId":${BIG}`);
    expect(found.json()).toEqual({
      id,
      name: 'Rex',
      categoryId: Number(BIG),
      status: 'available',
      ...rex,
    });
    expect(found.headers).toHaveProperty('etag');
    expect(found.headers).not.toHaveProperty('deprecation');
    expect((await tenant.get('/v1/pets')).text).toBe(`[${added.text}]`);
    expectError(await add('Rex', { photoUrl: 'no URL' }), 400, 'invalid_request');
    expectError(await add('Rex', { tenant: 'x' }), 400, 'invalid_request');
    expectError(await tenant.get(`/v1/pets/${id}?x=1`), 400, 'invalid_request');
  });

  it('shows a client its own pets only', async () => {
    const { id } = (await add('Rex')).json();
    const other = await service.client({ scopes: SCOPES });
    expect((await other.get('/v1/pets')).json()).toEqual([]);
    expectError(await other.get(`/v1/pets/${id}`), 404, 'pet_not_found');
    const order = { petId: id, quantity: 1 };
    expectError(await other.post('/v1/store/orders', order), 404, 'pet_not_found');
    other.close();
  });

  it('pages with a Link, and rejects the cursor of another filter', async () => {
    for (const name of ['Rex', 'Luna', 'Milo']) await add(name, { breed: 'Collie' });
    const first = await tenant.get('/v1/pets?limit=2&breed=Collie');
    const [, next] = /^<(.*)>; rel="next"$/.exec(first.headers.link as string)!;
    const { pathname, search } = new URL(next!);
    const second = await tenant.get(pathname + search);
    const names = [...first.json(), ...second.json()].map(({ name }) => name as string);
    expect(names).toEqual(['Rex', 'Luna', 'Milo']);
    expect(second.headers.link).toBeUndefined();
    const wrong = await tenant.get(pathname + search.replace('Collie', 'Poodle'));
    expectError(wrong, 400, 'invalid_request');
  });

  it('replays a create, and writes one row into the outbox', async () => {
    const before = (await outbox()).length;
    const headers = { 'idempotency-key': 'once' };
    const added = await add('Rex', {}, headers);
    const again = await add('Rex', {}, headers);
    expect(again.text).toBe(added.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expectError(await add('Luna', {}, headers), 422, 'idempotency_key_reused');
    const rows = (await outbox()).slice(before);
    expect(rows).toEqual([
      { id: expect.anything(), event: 'pet.created', petId: BigInt(added.json().id as number) },
    ]);
  });

  it('keeps a rule within the transaction, with and without an Idempotency-Key', async () => {
    const before = (await outbox()).length;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        add(`Pet ${i}`, {}, i % 2 ? { 'idempotency-key': `k${i}` } : {}),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(3).fill(201), ...Array(9).fill(409)]);
    const full = answers.find(({ status }) => status === 409)!;
    expectError(full, 409, 'pets_full');
    expect((await tenant.get('/v1/pets')).json()).toHaveLength(3);
    expect((await outbox()).length - before).toBe(3);
  });

  it('provides Pets for examples/store-orders', async () => {
    const { id } = (await add('Rex', { status: 'available' })).json();
    const placed = await tenant.post('/v1/store/orders', { petId: id, quantity: 1 });
    expect(placed.status).toBe(201);
    expect((await tenant.get(`/v1/pets/${id}`)).json()).toMatchObject({ status: 'pending' });
    const cancelled = await tenant.post(`/v1/store/orders/${placed.json().id}/cancel`, '');
    expect(cancelled.status).toBe(200);
    expect((await tenant.get(`/v1/pets/${id}`)).json()).toMatchObject({ status: 'available' });
  });

  it('is documented in place of the built-in one', async () => {
    const { components, tags, info, paths } = (await tenant.get('/openapi.json')).json();
    expect(components.schemas.NewOwnPet.properties).toHaveProperty('photoUrl');
    expect(components.schemas.OwnPets).toMatchObject({
      type: 'array',
      maxItems: 100,
      items: { $ref: '#/components/schemas/OwnPetDto' },
    });
    expect(components.schemas).not.toHaveProperty('Pets');
    expect(components.schemas).not.toHaveProperty('NewPet');
    expect(tags[0]).toEqual({ name: 'pets', description: 'Your pets.' });
    expect(info.description).toContain('| 409 | `pets_full` |');
    expect(Object.keys(paths['/pets'])).toEqual(['get', 'post']);
    expect(paths['/pets'].get.responses[200].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/OwnPets',
    });
  });

  it('decides the scopes of a new key', async () => {
    const reader = await service.client({});
    expect((await reader.get('/v1/usage')).json().scopes).toEqual(['pets:read']);
    reader.close();
  });

  it('works with the request method of the client', async () => {
    const store = new PetStoreClient({ baseUrl: `${service.origin}/v1`, apiKey: tenant.key! });
    const body = { name: 'Rex', categoryId: 7n, breed: 'Collie' };
    const added = await store.request<{ id: bigint; breed: string }>('POST', '/pets', { body });
    expect(added).toMatchObject({ breed: 'Collie' });
    expect(await store.request('GET', `/pets/${added.id}`)).toEqual(added);
    const bad = store.request('POST', '/pets', { body: { name: 'Rex' } });
    await expect(bad).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  });
});
