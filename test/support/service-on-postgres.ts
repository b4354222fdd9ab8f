import type { closedAtEnd } from './closed-at-end.js';
import { PostgresServer } from './postgres.js';
import { startService, type TestService } from './start-service.js';

/**
 * The service on a PostgreSQL server of its own, both closed at the end of the suite.
 * @param initdb the program that `describeWith('postgres', ...)` found
 */
export async function serviceOnPostgres(
  keep: ReturnType<typeof closedAtEnd>,
  initdb: string,
  env: Record<string, string> = {},
): Promise<{ server: PostgresServer; url: string; service: TestService }> {
  const server = keep(await PostgresServer.start(initdb));
  const url = await server.createDatabase();
  const service = keep(await startService({ env: { DATABASE_URL: url, ...env }, migrate: true }));
  return { server, url, service };
}
