import { Database } from '../../src/database/database.js';
import { eventually } from './eventually.js';
import type { TestService } from './start-service.js';

/** Resolves after `count` more polls for changes, whether they succeed or not. */
export async function polls({ store }: TestService, count: number): Promise<void> {
  const observe = jest.spyOn(store.app.get(Database), 'observe');
  await eventually(() =>
    Promise.resolve(
      observe.mock.calls.filter(([{ name }]) => name === 'poller.now').length >= count,
    ),
  );
  observe.mockRestore();
}
