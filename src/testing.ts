import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Abstract, Type } from '@nestjs/common';
import { Clock } from './time/clock.js';
import { loadConfig } from './config/config.js';
import { createLogger } from './telemetry/logger.js';
import type { PlanName } from './rate-limits/plan.js';
import { KeysService } from './keys/keys.service.js';
import type { Extension } from './extensions/define.js';
import { settingsOf } from './extensions/settings.js';
import { type PetStore, startPetStore } from './server.js';

/** The test kit for extensions: the service as it is, on a socket and a database of its own, in this process. */

/** Room for any test, where a test does not ask for less. */
const AMPLE = { perMinute: 1_000_000, perDay: 10_000_000 };
/** In the middle of a minute: no window ends unless the clock is moved. */
const INTO_MINUTE_MS = 30_000;

export interface TestStoreOptions {
  extensions?: readonly Extension[];
  /** `sqlite:PATH` or `postgres://...`, which is migrated. A fresh SQLite database where it is left out. */
  databaseUrl?: string;
  /** Further environment variables, as an operator would set them. */
  env?: Readonly<Record<string, string>>;
}

export interface TestKey {
  scopes?: readonly string[];
  /** `enterprise`, with room for any test, where nothing is said of limits. */
  plan?: PlanName;
  perMinute?: number;
  perDay?: number;
}

export interface TestRequest extends RequestInit {
  /** Sent as the bearer token. */
  key?: string;
}

/** A clock that stands still until it is moved. */
export class TestClock extends Clock {
  private nowMs = Math.floor(Date.now() / 60_000) * 60_000 + INTO_MINUTE_MS;
  private elapsedMs = 0;

  now(): number {
    return this.nowMs;
  }

  override elapsed(): number {
    return this.elapsedMs;
  }

  /** Lets time pass. @param seconds below 0, the clock is set back by so many, and none passes */
  advance(seconds: number): void {
    this.nowMs += seconds * 1000;
    this.elapsedMs += Math.max(0, seconds) * 1000;
  }
}

/** A running service with extensions: `await using store = await startTestStore({ extensions })`. */
export class TestStore implements AsyncDisposable {
  constructor(
    private readonly store: PetStore,
    readonly clock: TestClock,
    private readonly cleanUp: () => void,
  ) {}

  /** Where it listens, without the version: `http://127.0.0.1:PORT`. */
  get url(): string {
    return this.store.origin;
  }

  /** A fresh key of a client of its own. */
  async issueKey(key: TestKey = {}): Promise<string> {
    const { plan = 'enterprise', scopes, perMinute, perDay } = key;
    const limits = plan === 'enterprise' ? AMPLE : {};
    const issued = await this.store.app.get(KeysService).issue({
      name: 'test',
      plan,
      ...limits,
      ...(scopes !== undefined && { scopes }),
      ...(perMinute !== undefined && { perMinute }),
      ...(perDay !== undefined && { perDay }),
    });
    return issued.key;
  }

  /** As the global `fetch`, of a path such as `/v1/pets`. A text that is sent is JSON unless it says otherwise. */
  fetch(path: string, { key, ...init }: TestRequest = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    if (typeof init.body === 'string' && !headers.has('content-type')) {
      headers.set('content-type', 'application/json');
    }
    return fetch(new URL(path, this.url), { ...init, headers });
  }

  /** What Nest injects for a token: a service of the extension, `DataSource`, `Pets`. */
  get<Value>(token: Type<Value> | Abstract<Value> | string | symbol): Value {
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

/** Starts the service with extensions on a free port, its schema and theirs up to date. */
export async function startTestStore(options: TestStoreOptions = {}): Promise<TestStore> {
  const { extensions = [], databaseUrl, env } = options;
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const cleanUp = (): void => rmSync(directory, { recursive: true, force: true });
  const clock = new TestClock();
  try {
    const config = loadConfig(
      {
        PORT: '0',
        METRICS_PORT: '0',
        LOG_LEVEL: 'silent',
        LOG_FORMAT: 'json',
        SHUTDOWN_GRACE_SECONDS: '2',
        // However busy the machine is that runs the tests.
        SHED_AFTER_MS: '0',
        DATABASE_URL: databaseUrl ?? `sqlite:${join(directory, 'petstore.db')}`,
        ...env,
      },
      settingsOf(options.extensions ?? []),
    );
    const logger = await createLogger(config);
    const store = await startPetStore({ config, logger, clock, extensions, migrate: true });
    return new TestStore(store, clock, cleanUp);
  } catch (error) {
    cleanUp();
    throw error;
  }
}
