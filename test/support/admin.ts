import { AdminTokens, type NewAdminToken } from '../../src/core/keys/admin-tokens.service.js';
import { SERVICE } from '../../src/core/keys/audit-record.entity.js';
import { Client } from './client.js';
import { freePort } from './free-port.js';
import { startService, type TestService, type TestServiceOptions } from './start-service.js';

export interface AdminService {
  service: TestService;
  /** `http://127.0.0.1:ADMIN_PORT`. */
  origin: string;
  /** A client with an admin token. */
  admin: Client;
}

/** Starts a service with the admin API. */
export async function startAdminService(options: TestServiceOptions = {}): Promise<AdminService> {
  const port = await freePort();
  const env = { ADMIN_PORT: String(port), ...options.env };
  const service = await startService({ ...options, env });
  const origin = `http://127.0.0.1:${port}`;
  return { service, origin, admin: new Client(origin, await issueAdminToken(service, 'ann')) };
}

export async function issueAdminToken(
  service: TestService,
  name: string,
  terms: Omit<NewAdminToken, 'name'> = {},
): Promise<string> {
  const tokens = service.store.app.get(AdminTokens, { strict: false });
  return (await tokens.issue({ name, ...terms }, SERVICE)).token;
}

/** The same for the tests of the enclosing `describe`. */
export function useAdminService(options: TestServiceOptions = {}): AdminService {
  const started = {} as AdminService;
  beforeAll(async () => {
    Object.assign(started, await startAdminService(options));
  });
  afterAll(() => started.service?.close());
  return started;
}
