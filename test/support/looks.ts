import { Database } from '../../src/database/database.js';
import { eventually } from './eventually.js';
import type { TestService } from './start-service.js';

/** Resolves once the service has looked for changes so many times more, in vain or not. */
export async function looks({ store }: TestService, count: number): Promise<void> {
  const observe = jest.spyOn(store.app.get(Database), 'observe');
  await eventually(() =>
    Promise.resolve(
      observe.mock.calls.filter(([{ name }]) => name === 'poller.now').length >= count,
    ),
  );
  observe.mockRestore();
}
