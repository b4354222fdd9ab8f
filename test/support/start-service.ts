import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '../../src/core/config/config.js';
import { settingsOf } from '../../src/extensions/settings.js';
import { KeysService, type NewKey } from '../../src/core/keys/keys.service.js';
import type { PetStore } from '../../src/pet-store.js';
import { startPetStore, type StartOptions } from '../../src/server.js';
import { createLogger } from '../../src/core/telemetry/logger.js';
import { Client } from './client.js';
import { copyOfTemplate } from './templates.js';

export interface TestService extends AsyncDisposable {
  store: PetStore;
  origin: string;
  config: Config;
  /**
   * A client with a new key, by default of the plan `enterprise` with limits that no test reaches.
   */
  client(key?: Partial<NewKey>): Promise<Client>;
  /** A client without a key. */
  anonymous(): Client;
  close(): Promise<void>;
}

export interface TestServiceOptions extends Omit<StartOptions, 'config'> {
  /** Environment variables, as an operator would set them. */
  env?: Record<string, string>;
}

/** Whether this run is the one on PostgreSQL. */
export const onPostgres = process.env['TEST_POSTGRES_URL'] !== undefined;

/**
 * Starts the service in this process, on a real socket and its own database. `close()` removes
 * both.
 */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { env, ...rest } = options;
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const config = loadConfig(
    {
      PORT: '0',
      METRICS_PORT: '0',
      LOG_LEVEL: 'silent',
      LOG_FORMAT: 'json',
      DATABASE_URL: await copyOfTemplate(directory),
      SHUTDOWN_GRACE_SECONDS: '5',
      // A busy machine must not cause 503 responses.
      SHED_AFTER_MS: '0',
      ...env,
    },
    settingsOf(rest.extensions ?? []),
  );
  const logger = rest.logger ?? (await createLogger(config));
  const store = await startPetStore({ migrate: onPostgres, ...rest, config, logger });
  const { origin } = store;
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    store,
    origin,
    config,
    anonymous: () => new Client(origin),
    client: async (key = {}) => {
      const limits = key.plan === undefined ? { perMinute: 1_000_000, perDay: 10_000_000 } : {};
      const issued = await store.app
        .get(KeysService)
        .issue({ name: 'test', plan: 'enterprise', ...limits, ...key });
      return new Client(origin, issued.key, issued.record.id);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Starts a service before the tests of the enclosing `describe`, and closes it after them.
 * @returns the service and a client with a key, which are usable from then on
 */
export function useService(
  options: TestServiceOptions = {},
  key: Partial<NewKey> = {},
): { service: TestService; client: Client } {
  const [service, client] = [{} as TestService, new Client('')];
  beforeAll(async () => {
    Object.assign(service, await startService(options));
    Object.assign(client, await service.client(key));
  });
  afterAll(() => service.close?.());
  return { service, client };
}

/**
 * For a start that must fail. A service that starts is closed, so that the test fails instead of
 * hanging.
 */
export async function startAndClose(options: TestServiceOptions): Promise<void> {
  await (await startService(options)).close();
}
