import type { Client } from './client.js';

/**
 * Repeats `round` with each client, one at a time, until `stop()`, which throws if a round has
 * thrown.
 */
export function startLoad<Result>(
  clients: readonly Client[],
  round: (client: Client) => Promise<Result>,
): { results: Result[]; stop(): Promise<void> } {
  const results: Result[] = [];
  let isOver = false;
  const callers = Promise.all(
    clients.map(async (client) => {
      while (!isOver) results.push(await round(client));
    }),
  );
  callers.catch(() => undefined);
  return { results, stop: async () => ((isOver = true), void (await callers)) };
}
