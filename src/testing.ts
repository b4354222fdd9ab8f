import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InjectionToken } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { Clock } from './core/time/clock.js';
import { loadConfig } from './core/config/config.js';
import { KeysService, type NewKey } from './core/keys/keys.service.js';
import type { PetStoreConfig } from './extensions/define.js';
import { withBuiltIn } from './built-in.js';
import { settingsOf } from './extensions/settings.js';
import type { PetStore } from './pet-store.js';
import { startPetStore, type StartOptions } from './server.js';

/** Test kit for extensions: the real service with its own socket and database, in this process. */

/** Limits that no test reaches, unless it asks for lower ones. */
const AMPLE = { perMinute: 1_000_000, perDay: 10_000_000 };
/** The clock starts in the middle of a minute, so that no window ends by accident. */
const INTO_MINUTE_MS = 30_000;

/** Extensions and plans as in `defineConfig()`. */
export interface TestStoreOptions extends Partial<PetStoreConfig> {
  /** `sqlite:PATH` or `postgres://...`; it is migrated. Default: a fresh SQLite database. */
  databaseUrl?: string;
  /** Further environment variables. */
  env?: Readonly<Record<string, string>>;
  /** Overrides providers, guards or modules: `(builder) => builder.overrideProvider(Token)...`. */
  override?: (builder: TestingModuleBuilder) => TestingModuleBuilder | void;
}

/** The options of `fetch`, and a key. */
export interface TestRequest extends RequestInit {
  /** Sent as the bearer token. */
  key?: string;
}

/** A clock that stands still until `advance` moves it. */
export class TestClock extends Clock {
  private nowMs = Math.floor(Date.now() / 60_000) * 60_000 + INTO_MINUTE_MS;

  override now(): number {
    return this.nowMs;
  }

  /** Moves the clock. @param seconds if negative, the clock is set back */
  advance(seconds: number): void {
    this.nowMs += seconds * 1000;
  }
}

/** A running service: `await using store = await startTestStore({ extensions })`. */
export class TestStore implements AsyncDisposable {
  constructor(
    private readonly store: PetStore,
    readonly clock: TestClock,
    private readonly cleanUp: () => void,
  ) {}

  /** `http://127.0.0.1:PORT`, without `/v1`. */
  get url(): string {
    return this.store.origin;
  }

  /** Issues a key to a new client. Default: `enterprise`, with limits that no test reaches. */
  async issueKey({ plan = 'enterprise', ...terms }: Partial<NewKey> = {}): Promise<string> {
    const limits = plan === 'enterprise' ? AMPLE : {};
    const keys = this.store.app.get(KeysService);
    return (await keys.issue({ name: 'test', plan, ...limits, ...terms })).key;
  }

  /**
   * Like the global `fetch`, with a path such as `/v1/pets`. The media type of a string body
   * defaults to JSON.
   */
  fetch(path: string, { key, ...init }: TestRequest = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    if (typeof init.body === 'string' && !headers.has('content-type')) {
      headers.set('content-type', 'application/json');
    }
    return fetch(new URL(path, this.url), { ...init, headers });
  }

  /** Returns a provider: a service of the extension, `DataSource`, `Pets`. */
  get<Value>(token: InjectionToken<Value>): Value {
    return this.store.app.get<Value>(token, { strict: false });
  }

  async close(): Promise<void> {
    await this.store.close();
    this.cleanUp();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Starts the service on a free port, with all migrations run. */
export async function startTestStore(options: TestStoreOptions = {}): Promise<TestStore> {
  const { databaseUrl, env, plans, extensions = [], override } = options;
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const cleanUp = () => rmSync(directory, { recursive: true, force: true });
  const clock = new TestClock();
  try {
    const config = loadConfig(
      {
        PORT: '0',
        METRICS_PORT: '0',
        LOG_LEVEL: 'silent',
        LOG_FORMAT: 'json',
        SHUTDOWN_GRACE_SECONDS: '2',
        SHED_AFTER_MS: '0',
        DATABASE_URL: databaseUrl ?? `sqlite:${join(directory, 'petstore.db')}`,
        ...env,
      },
      settingsOf(withBuiltIn(extensions)),
    );
    const store = await startPetStore({
      config,
      clock,
      extensions,
      plans,
      migrate: true,
      createNest: override && createWith(override),
    });
    return new TestStore(store, clock, cleanUp);
  } catch (error) {
    cleanUp();
    throw error;
  }
}

function createWith(
  override: NonNullable<TestStoreOptions['override']>,
): StartOptions['createNest'] {
  return async (module, adapter, options) => {
    const builder = Test.createTestingModule({ imports: [module] }).setLogger(options.logger);
    const tested = await (override(builder) ?? builder).compile();
    return tested.createNestApplication<NestFastifyApplication>(adapter, options);
  };
}
