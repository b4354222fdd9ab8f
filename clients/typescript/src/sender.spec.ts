import { PetStoreClient } from './client.js';
import { PetStoreTimeoutError } from './errors.js';
import { Sender } from './sender.js';

describe(Sender.name, () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('rejects all calls in their time while the service never answers', async () => {
    const store = new PetStoreClient({
      baseUrl: 'http://127.0.0.1/v1',
      apiKey: 'psk_',
      maxRetries: 0,
      timeoutMs: 8_000,
      fetch: () => new Promise(() => undefined),
    });
    for (let round = 0; round < 2; round++) {
      const calls = Promise.allSettled(Array.from({ length: 20 }, () => store.getPet(1n)));
      // Timers end on whole milliseconds.
      await jest.advanceTimersByTimeAsync(8_010);
      for (const call of await calls) {
        expect(call).toMatchObject({ reason: new PetStoreTimeoutError(8_000) });
      }
    }
  });
});
