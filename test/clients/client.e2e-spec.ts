import { KeysService } from '../../src/keys/keys.service.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { FakeClock } from '../support/clock.js';
import { startService, type TestService } from '../support/start-service.js';
import { storeOrders } from '../../examples/store-orders/src/index.js';
import {
  type Deprecation,
  type PetStoreClientOptions,
  PetStoreClient,
  PetStoreConnectionError,
  PetStoreError,
  PetStoreTimeoutError,
  type RetryEvent,
} from '../../clients/typescript/src/index.js';

const INT64_MAX = 9223372036854775807n;
const rex = { name: 'Rex', categoryId: INT64_MAX };

describe(PetStoreClient.name, () => {
  let service: TestService;
  let clock: FakeClock;
  beforeAll(async () => {
    clock = new FakeClock();
    service = await startService({ clock, extensions: [storeOrders] });
  });
  afterAll(() => service?.close());

  /** A client with a key of its own. */
  async function connect(
    options: Partial<PetStoreClientOptions> = {},
    key: Parameters<TestService['client']>[0] = {},
  ): Promise<PetStoreClient> {
    const { key: apiKey } = await service.client(key);
    return new PetStoreClient({ baseUrl: `${service.origin}/v1/`, apiKey: apiKey!, ...options });
  }

  it('keeps int64 to the last digit, both ways', async () => {
    const store = await connect();
    const pet = await store.createPet({ ...rex, status: 'available' });
    expect(pet).toEqual({ ...rex, status: 'available', id: expect.any(BigInt) });
    expect(await store.getPet(pet.id)).toEqual(pet);
    const small = await store.createPet({ name: 'Small', categoryId: 7n });
    expect(small.categoryId).toBe(7n);
  });

  it('gives the answer to who asks for it', async () => {
    const store = await connect();
    const { data, response } = await store.createPet(rex).withResponse();
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toMatch(new RegExp(`/v1/pets/${data.id}$`));
    expect(await response.text()).toContain(`"id":${data.id},`);
    expect(response.url).toBe(`${service.origin}/v1/pets`);
  });

  // What generators leave to everybody: OAI/OpenAPI-Specification#2402, oapi-codegen/oapi-codegen#1832.
  it('follows pages to the end on its own base address, whatever host the links name', async () => {
    await using elsewhere = await startService({
      env: { PUBLIC_BASE_URL: 'https://api.example.com/v1' },
    });
    const { key } = await elsewhere.client();
    const store = new PetStoreClient({ baseUrl: `${elsewhere.origin}/v1`, apiKey: key! });
    const status = 'pending' as const;
    for (let each = 0; each < 5; each++) await store.createPet({ ...rex, name: `${each}`, status });
    await store.createPet(rex);
    const names: string[] = [];
    for await (const pet of store.listPets({ status, pageSize: 2 })) names.push(pet.name);
    expect(names).toEqual(['0', '1', '2', '3', '4']);
    const sizes: number[] = [];
    for await (const pets of store.listPets({ status, pageSize: 2 }).pages()) {
      sizes.push(pets.length);
    }
    expect(sizes).toEqual([2, 2, 1]);
  });

  it('throws what the service answers', async () => {
    const store = await connect();
    const error: unknown = await store.getPet(4711n).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PetStoreError);
    expect(error).toMatchObject({
      code: 'pet_not_found',
      status: 404,
      message: expect.stringMatching(/./),
      requestId: expect.stringMatching(/./),
      retryAfterSeconds: undefined,
    });
    await expect(store.getPet(4711n).withResponse()).rejects.toBeInstanceOf(PetStoreError);
  });

  it('tells what is left', async () => {
    const store = await connect({}, { plan: 'free' });
    expect(store.rateLimit).toBeUndefined();
    await store.createPet(rex);
    expect(store.rateLimit).toEqual({
      limit: 60,
      remaining: 59,
      resetAt: new Date('2026-06-15T12:01:00Z'),
      minute: { limit: 60, remaining: 59 },
      day: { limit: 1_000, remaining: 999 },
    });
    expect(await store.getUsage()).toMatchObject({
      plan: 'free',
      limits: { minute: { limit: 60, remaining: 59 }, day: { limit: 1_000, remaining: 999 } },
      bannedUntil: null,
    });
  });

  it('tells once per operation that it is to go', async () => {
    const told: Deprecation[] = [];
    const store = await connect({ onDeprecation: (deprecation) => told.push(deprecation) });
    const { id } = await store.createPet(rex);
    await store.getPet(id);
    await store.getPet(id);
    expect(told).toEqual([
      {
        operation: 'getPet',
        since: new Date('2025-12-05T00:00:00Z'),
        sunset: new Date('2030-12-05T00:00:00Z'),
        successor: expect.stringMatching(/\/v1\/pets$/),
        documentation: expect.stringContaining('/docs'),
      },
    ]);
  });

  it('calls the operations of guests', async () => {
    const store = await connect(
      {},
      {
        scopes: ['pets:write', 'orders:read', 'orders:write'],
      },
    );
    interface Order {
      id: number;
      petId: number;
      quantity: number;
    }
    const pet = await store.createPet({ name: 'Rex', categoryId: 7n, status: 'available' });
    const order = { petId: Number(pet.id), quantity: 1 };
    const placed = await store.request<Order>('POST', '/store/orders', { body: order });
    expect(placed).toMatchObject({ ...order, id: expect.anything() });
    expect(await store.request<Order>('GET', `/store/orders/${placed.id}`)).toEqual(placed);
    const bad = store.request('GET', '/store/orders/1', { query: { verbose: true } });
    await expect(bad).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
  });

  it.each(['/../admin', '@example.com/', 'https://example.com/', '/..', ''])(
    'sends its key to no address beside the base: %s',
    async (path) => {
      const fetch = jest.fn<Promise<Response>, []>();
      const store = await connect({ fetch });
      await expect(store.request('GET', path)).rejects.toThrow(TypeError);
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  it('creates one animal where the connection breaks behind the commit', async () => {
    await using proxy = await openProxy();
    const { key: apiKey } = await service.client();
    const direct = new PetStoreClient({ baseUrl: `${service.origin}/v1`, apiKey: apiKey! });
    const retries: RetryEvent[] = [];
    const sent: (string | null)[] = [];
    let broken = 0;
    const store = new PetStoreClient({
      baseUrl: `http://127.0.0.1:${proxy.port}/v1`,
      apiKey: apiKey!,
      onRequest: ({ headers }) => sent.push(headers.get('idempotency-key')),
      onRetry: (event) => retries.push(event),
      // The answer is on its way, so the animal is there: now the line breaks.
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (broken++ >= 2) return response;
        proxy.cut();
        throw new TypeError('fetch failed');
      },
    });
    const name = 'Only one';
    const pet = await store.createPet({ name, categoryId: 1n, status: 'sold' });
    expect(retries.map(({ attempt, error }) => [attempt, error.name])).toEqual([
      [1, 'PetStoreConnectionError'],
      [2, 'PetStoreConnectionError'],
    ]);
    expect(new Set(sent).size).toBe(1);
    expect(sent[0]).toMatch(/^[0-9a-f]{32}$/);
    const found: bigint[] = [];
    for await (const each of direct.listPets({ status: 'sold' })) {
      if (each.name === name) found.push(each.id);
    }
    expect(found).toEqual([pet.id]);
  });

  it('comes through a line that is cut, and says so where it stays away', async () => {
    await using proxy = await openProxy();
    const { key: apiKey } = await service.client();
    const baseUrl = `http://127.0.0.1:${proxy.port}/v1`;
    const store = new PetStoreClient({
      baseUrl,
      apiKey: apiKey!,
      onRetry: ({ attempt }) => attempt === 2 && proxy.pass(),
    });
    proxy.refuse();
    await expect(store.createPet(rex)).resolves.toMatchObject({ name: 'Rex' });
    proxy.refuse();
    const stubborn = new PetStoreClient({ baseUrl, apiKey: apiKey!, maxRetries: 1 });
    await expect(stubborn.createPet(rex)).rejects.toBeInstanceOf(PetStoreConnectionError);
  });

  it('gives up a try that takes too long, and takes the next', async () => {
    await using proxy = await openProxy();
    const { key: apiKey } = await service.client();
    const store = new PetStoreClient({
      baseUrl: `http://127.0.0.1:${proxy.port}/v1`,
      apiKey: apiKey!,
      onRetry: () => proxy.pass(),
    });
    proxy.stall();
    const hanging = store.getUsage({ timeoutMs: 50, maxRetries: 0 });
    await expect(hanging).rejects.toBeInstanceOf(PetStoreTimeoutError);
    await expect(store.getUsage({ timeoutMs: 2_000 })).resolves.toMatchObject({
      bannedUntil: null,
    });
  });

  it('rejects with the reason of an abort, at whatever moment', async () => {
    await using proxy = await openProxy();
    const { key: apiKey } = await service.client();
    const baseUrl = `http://127.0.0.1:${proxy.port}/v1`;
    const store = new PetStoreClient({ baseUrl, apiKey: apiKey! });
    const reason = { why: 'no more time' };
    const before = store.createPet(rex, { signal: AbortSignal.abort(reason) });
    await expect(before).rejects.toBe(reason);

    proxy.stall();
    const onTheWay = new AbortController();
    const stalled = store.createPet(rex, { signal: onTheWay.signal });
    setImmediate(() => onTheWay.abort(reason));
    await expect(stalled).rejects.toBe(reason);

    const slow = await connect({}, { plan: 'enterprise', perMinute: 1, perDay: 9 });
    await slow.createPet(rex);
    const waiting = new AbortController();
    const held = slow.createPet(rex, { signal: waiting.signal });
    setImmediate(() => waiting.abort(reason));
    await expect(held).rejects.toBe(reason);
  });

  it('sends nothing while it is banned, and knows until when', async () => {
    const limits = { plan: 'enterprise' as const, perMinute: 1, perDay: 1_000 };
    const banned = await service.client(limits);
    let sent = 0;
    const store = new PetStoreClient({
      baseUrl: `${service.origin}/v1`,
      apiKey: banned.key!,
      onRequest: () => sent++,
    });
    for (let request = 0; request < 102; request++) await banned.get('/v1/pets');
    const ban = { code: 'key_banned', status: 429, retryAfterSeconds: 300 };
    await expect(store.createPet(rex)).rejects.toMatchObject(ban);
    expect(sent).toBe(1);
    await expect(store.createPet(rex)).rejects.toMatchObject(ban);
    await expect(store.listPets().pages().next()).rejects.toMatchObject(ban);
    expect(sent).toBe(1);
    expect((await store.getUsage()).bannedUntil).toBe(clock.now() / 1000 + 300);
  });

  it('knows of a ban, and of its end, from the usage', async () => {
    const banned = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    for (let request = 0; request < 102; request++) await banned.get('/v1/pets');
    const sent: string[] = [];
    const store = new PetStoreClient({
      baseUrl: `${service.origin}/v1`,
      apiKey: banned.key!,
      onRequest: ({ operation }) => sent.push(operation),
    });
    await store.getUsage();
    const ban = { code: 'key_banned', status: 429, retryAfterSeconds: 300 };
    await expect(store.createPet(rex)).rejects.toMatchObject(ban);
    expect(sent).toEqual(['getUsage']);
    clock.advance(60_000);
    await service.store.app.get(KeysService).unban(banned.keyId!);
    expect((await store.getUsage()).bannedUntil).toBeNull();
    await expect(store.createPet(rex)).resolves.toMatchObject({ name: 'Rex' });
  });

  const openProxy = () => FaultProxy.start(Number(new URL(service.origin).port));
});
