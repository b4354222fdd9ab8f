import {
  ConflictError,
  NotFoundError,
  type PetStoreClientOptions,
  PetStoreClient,
  PetStoreConnectionError,
  PetStoreError,
  PetStoreTimeoutError,
  type RetryEvent,
  ValidationError,
} from '../../clients/typescript/src/index.js';
import { storeOrders } from '../../examples/store-orders/src/index.js';
import { FakeClock } from '../support/clock.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { type TestService, startService, useService } from '../support/start-service.js';

const INT64_MAX = 9223372036854775807n;
const rex = { name: 'Rex', categoryId: INT64_MAX };

describe(PetStoreClient.name, () => {
  const { service } = useService({ clock: new FakeClock(), extensions: [storeOrders] });

  /** A client with a key of its own. */
  async function connect(
    options: Partial<PetStoreClientOptions> = {},
    key: Parameters<TestService['client']>[0] = {},
  ): Promise<PetStoreClient> {
    const { key: apiKey } = await service.client(key);
    return new PetStoreClient({ baseUrl: `${service.origin}/v1/`, apiKey, ...options });
  }

  const openProxy = () => FaultProxy.start(Number(new URL(service.origin).port));
  const through = (proxy: FaultProxy) => ({ baseUrl: `http://127.0.0.1:${proxy.port}/v1` });

  // Generated clients leave this to the caller: OAI/OpenAPI-Specification#2402,
  // oapi-codegen/oapi-codegen#1832.
  it('follows the pages to the end on its own base URL, even if the links name another host', async () => {
    await using elsewhere = await startService({
      env: { PUBLIC_BASE_URL: 'https://api.example.com/v1' },
    });
    const { key } = await elsewhere.client();
    const store = new PetStoreClient({ baseUrl: `${elsewhere.origin}/v1`, apiKey: key });
    const status = 'pending' as const;
    for (let each = 0; each < 5; each++) await store.createPet({ ...rex, name: `${each}`, status });
    await store.createPet(rex);
    const list = store.listPets({ status, pageSize: 2 });
    const names: string[] = [];
    for await (const pet of list) names.push(pet.name);
    expect(names).toEqual(['0', '1', '2', '3', '4']);
    expect((await list).map(({ name }) => name)).toEqual(['0', '1']);
    expect((await list.all({ limit: 3 })).map(({ name }) => name)).toEqual(['0', '1', '2']);
  });

  it('throws a class per kind of error, with the error of the service', async () => {
    const store = await connect();
    const error: unknown = await store.getPet(4711n).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toBeInstanceOf(PetStoreError);
    const { message, requestId } = error as PetStoreError;
    expect([message, requestId]).not.toContain('');
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'NotFoundError',
      code: 'pet_not_found',
      status: 404,
      message,
      requestId: expect.any(String),
    });
    await expect(store.getPet(4711n).withResponse()).rejects.toBeInstanceOf(NotFoundError);
    await store.createPet(rex, { idempotencyKey: 'same' });
    const reused = store.createPet({ ...rex, name: 'Leo' }, { idempotencyKey: 'same' });
    await expect(reused).rejects.toBeInstanceOf(ConflictError);
  });

  it('calls the operations of extensions', async () => {
    const scopes = ['pets:write', 'orders:read', 'orders:write'];
    const store = await connect({}, { scopes });
    const pet = await store.createPet({ name: 'Rex', categoryId: 7n, status: 'available' });
    const order = { petId: Number(pet.id), quantity: 1 };
    const placed = await store.request<{ id: number }>('POST', '/store/orders', { body: order });
    expect(placed).toMatchObject({ ...order, id: expect.anything() });
    expect(await store.request('GET', `/store/orders/${placed.id}`)).toEqual(placed);
    const bad = store.request('POST', '/store/orders', { body: { ...order, quantity: 0 } });
    await expect(bad).rejects.toBeInstanceOf(ValidationError);
  });

  it('creates one pet if the connection breaks after the commit', async () => {
    await using proxy = await openProxy();
    const retries: RetryEvent[] = [];
    const sent: (string | null)[] = [];
    let responses = 0;
    const store = await connect({
      ...through(proxy),
      onRequest: ({ headers }) => sent.push(headers.get('idempotency-key')),
      onRetry: (event) => retries.push(event),
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (responses++ >= 2) return response;
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
    const sold = await store.listPets({ status: 'sold' }).all();
    expect(sold.filter((each) => each.name === name)).toEqual([pet]);
  });

  it('retries refused connections and timeouts, and throws if they persist', async () => {
    await using proxy = await openProxy();
    const onRetry = ({ attempt }: RetryEvent) => attempt === 2 && proxy.pass();
    const store = await connect({ ...through(proxy), onRetry });
    proxy.refuse();
    await expect(store.createPet(rex)).resolves.toMatchObject({ name: 'Rex' });
    proxy.refuse();
    const refused = store.createPet(rex, { maxRetries: 1 });
    await expect(refused).rejects.toBeInstanceOf(PetStoreConnectionError);
    proxy.pass();
    proxy.stall();
    const stalled = store.getUsage({ timeoutMs: 50, maxRetries: 0 });
    await expect(stalled).rejects.toBeInstanceOf(PetStoreTimeoutError);
    const retried = store.getUsage({ timeoutMs: 1_000 });
    await expect(retried).resolves.toMatchObject({ bannedUntil: null });
  });

  it('sends nothing while no quota is left, and rejects with the reason of an abort', async () => {
    await using proxy = await openProxy();
    const store = await connect(through(proxy));
    const reason = { why: 'no more time' };
    const before = store.createPet(rex, { signal: AbortSignal.abort(reason) });
    await expect(before).rejects.toBe(reason);

    proxy.stall();
    const during = new AbortController();
    const stalled = store.createPet(rex, { signal: during.signal });
    setImmediate(() => during.abort(reason));
    await expect(stalled).rejects.toBe(reason);

    const sent: string[] = [];
    const onRequest = ({ operation }: { operation: string }) => sent.push(operation);
    const slow = await connect({ onRequest }, { plan: 'enterprise', perMinute: 1, perDay: 9 });
    await slow.createPet(rex);
    const between = new AbortController();
    const waiting = slow.createPet(rex, { signal: between.signal });
    setImmediate(() => between.abort(reason));
    await expect(waiting).rejects.toBe(reason);
    expect(sent).toEqual(['createPet']);
  });
});
