import { Database } from '../../src/database/database.js';
import type { Client } from './client.js';
import { eventually } from './eventually.js';
import type { TestService } from './start-service.js';

/** Resolves once requests with this client's key need no query for it: one that was changed just now does. */
export async function remembered({ store }: TestService, client: Client): Promise<void> {
  const first = jest.spyOn(store.app.get(Database), 'query');
  await eventually(async () => {
    first.mockClear();
    await client.get('/v1/nope');
    return !first.mock.calls.some(([{ name }]) => name === 'keys.find-by-digest');
  });
  first.mockRestore();
}
