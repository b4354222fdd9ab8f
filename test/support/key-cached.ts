import { Database } from '../../src/core/database/database.js';
import type { Client } from './client.js';
import { eventually } from './eventually.js';
import type { TestService } from './start-service.js';

/** Resolves once the key of the client is answered from the cache. */
export async function keyCached({ store }: TestService, client: Client): Promise<void> {
  const first = jest.spyOn(store.app.get(Database), 'query');
  await eventually(async () => {
    first.mockClear();
    await client.get('/v1/nope');
    return !first.mock.calls.some(([{ name }]) => name === 'keys.find-by-digest');
  });
  first.mockRestore();
}
