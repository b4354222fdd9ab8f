import { storeOrders } from '../../examples/store-orders/src/index.js';
import type { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

describe('the example store-orders', () => {
  let service: TestService;
  let client: Client;
  let seller: Client;
  beforeAll(async () => {
    service = await startService({ clock: new FakeClock(), extensions: [storeOrders] });
    client = await service.client({ scopes: ['orders:read', 'orders:write'] });
    seller = await service.client();
  });
  afterAll(() => service?.close());

  async function newOrder(): Promise<object> {
    const pet = await seller.post('/v1/pets', { name: 'Rex', categoryId: 7, status: 'available' });
    return { petId: pet.json().id, quantity: 1 };
  }

  it('serves its operations on its own tables', async () => {
    const order = await newOrder();
    const placed = await client.post('/v1/store/orders', order);
    expect(placed.status).toBe(201);
    expectRateHeaders(placed);
    expect(placed.json()).toEqual({
      ...order,
      id: expect.any(Number),
      status: 'placed',
      placedAt: expect.any(String),
    });
    const found = await client.get(`/v1/store/orders/${placed.json().id}`);
    expect(found.json()).toEqual(placed.json());
    expect(found.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('rejects callers without the scope', async () => {
    const other = await service.client();
    expectError(await other.post('/v1/store/orders', {}), 403, 'insufficient_scope');
    expectError(await client.get('/v1/pets'), 403, 'insufficient_scope');
  });

  it('validates its input and shapes its errors', async () => {
    const answer = await client.post('/v1/store/orders', { petId: 0, more: 1 });
    expectError(answer, 400, 'invalid_request');
    expect(answer.json().message.split('; ').sort()).toEqual([
      '"more" is not a known member',
      'petId must be an integer from 1 to 9223372036854775807',
      'quantity must be 1: there is one of each animal',
    ]);
    expectError(await client.get('/v1/store/orders/x'), 404, 'not_found');
    expectError(await client.post('/v1/store/orders', '{'), 400, 'malformed_json');
    const text = { 'content-type': 'text/plain' };
    expectError(await client.post('/v1/store/orders', {}, text), 415, 'unsupported_media_type');
    const wrong = await client.send('/v1/store/orders', { method: 'DELETE' });
    expectError(wrong, 405, 'method_not_allowed');
    expect(wrong.headers.allow).toBe('GET, HEAD, POST');
  });

  it('is in the document, with the errors and headers of every operation', async () => {
    const { paths } = (await service.anonymous().get('/openapi.json')).json();
    const { post } = paths['/store/orders'];
    expect(post.operationId).toBe('placeOrder');
    expect(post.security).toEqual([{ apiKey: ['orders:write'] }]);
    expect(Object.keys(post.responses)).toEqual(
      expect.arrayContaining([
        '201',
        '400',
        '401',
        '403',
        '405',
        '413',
        '415',
        '429',
        '500',
        '503',
      ]),
    );
    expect(post.responses['201'].headers).toHaveProperty('X-RateLimit-Limit');
    const { get } = paths['/store/orders/{orderId}'];
    expect(get.security).toEqual([{ apiKey: ['orders:read'] }]);
    expect(Object.keys(get.responses['404'].content['application/json'].examples)).toContain(
      'order_not_found',
    );
  });
});
