import { PetStoreClient } from './client.js';
import { PetStoreTimeoutError } from './errors.js';
import { Sender } from './sender.js';

describe(Sender.name, () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('rejects all calls after the timeout while the service does not respond', async () => {
    const store = new PetStoreClient({
      baseUrl: 'http://127.0.0.1/v1',
      apiKey: 'psk_',
      maxRetries: 0,
      timeoutMs: 8_000,
      fetch: () => new Promise(() => undefined),
    });
    for (let round = 0; round < 2; round++) {
      const calls = Promise.allSettled(Array.from({ length: 20 }, () => store.getPet(1n)));
      // Fake timers fire on whole milliseconds.
      await jest.advanceTimersByTimeAsync(8_010);
      for (const call of await calls) {
        expect(call).toMatchObject({ reason: new PetStoreTimeoutError(8_000) });
      }
    }
  });

  /** A client whose requests all get this response, and the operations that it has sent. */
  function clientOf(status: number, usage: object) {
    const sent: string[] = [];
    const headers = {
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '4000000000',
      ratelimit: '"minute";r=0;t=300,"day";r=0;t=300',
      'x-request-id': 'one',
    };
    const store = new PetStoreClient({
      baseUrl: 'http://127.0.0.1/v1',
      apiKey: 'psk_',
      maxRetries: 0,
      onRequest: ({ operation }) => sent.push(operation),
      fetch: () => Promise.resolve(Response.json(usage, { status, headers })),
    });
    return { store, sent };
  }

  it('sends nothing while the usage reports a ban', async () => {
    const { store, sent } = clientOf(200, { bannedUntil: '2096-10-02T07:06:40.000Z' });
    await store.getUsage();
    await expect(store.getPet(1n)).rejects.toMatchObject({
      code: 'key_banned',
      status: 429,
      requestId: 'one',
      retryAfterSeconds: 300,
    });
    expect(sent).toEqual(['getUsage']);
  });

  it('ignores the rate limit of getUsage itself', async () => {
    const { store, sent } = clientOf(429, { code: 'rate_limit_exceeded', message: '' });
    const limited = { code: 'rate_limit_exceeded' };
    await expect(store.getUsage()).rejects.toMatchObject(limited);
    const call = expect(store.getPet(1n)).rejects.toMatchObject(limited);
    await jest.advanceTimersByTimeAsync(0);
    expect(sent).toEqual(['getUsage', 'getPet']);
    await call;
  });

  /** A client of deprecated operations, and the operations that it has reported. */
  function clientOfDeprecated() {
    const reported: string[] = [];
    const store = new PetStoreClient({
      baseUrl: 'http://127.0.0.1/v1',
      apiKey: 'psk_',
      onDeprecation: ({ operation }) => reported.push(operation),
      fetch: () => Promise.resolve(Response.json({}, { headers: { deprecation: '@1' } })),
    });
    return { store, reported };
  }

  it('reports a deprecated operation once for all its addresses', async () => {
    const { store, reported } = clientOfDeprecated();
    await store.getPet(1n);
    await store.request('get', '/pets/2');
    for (const path of ['/things/1?x=1', '/things/2?x=1', '/things/-8', '/things/é']) {
      await store.request('GET', path, { query: { y: 1 } });
    }
    for (const path of ['/animals/Rex', '/animals/Leo']) {
      await store.request('GET', path, { operation: 'getAnimal' });
    }
    expect(reported).toEqual(['getPet', 'GET /things/{id}', 'getAnimal']);
  });
});
