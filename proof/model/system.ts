import { freePort } from '../../test/support/free-port.js';
import { Workplace } from '../../test/support/petstore-process.js';
import type { PostgresServer } from '../../test/support/postgres.js';
import { startTestStore, type TestRequest, type TestStore } from '../../src/testing.js';

export interface Key {
  id: string;
  key: string;
}

export interface Terms {
  plan: string;
  perMinute?: number;
  perDay?: number;
}

export const AMPLE = { plan: 'enterprise', perMinute: 1_000_000, perDay: 10_000_000 };
export const BAN_AFTER_REJECTIONS = 5;
const BUSINESS = { perMinute: 1_000, perDay: 100_000 };
const SCOPES = ['pets:read', 'pets:write', 'key:rotate'];
const ENV = {
  FAILED_AUTH_PER_MINUTE: '1000000',
  FAILED_AUTH_PER_DAY: '1000000000',
  BAN_AFTER_REJECTIONS: String(BAN_AFTER_REJECTIONS),
  // Longer than other commands move the clock.
  BAN_SECONDS: '3600',
  DATABASE_POOL_SIZE: '3',
};

/** `RateLimit-Policy` of a key with these terms. */
export function policyOf({ plan, ...own }: Terms): string {
  const { perMinute, perDay } = plan === 'business' ? BUSINESS : own;
  return `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`;
}

/** What the commands do their requests with: a service in this process, on its own database. */
export class System implements AsyncDisposable {
  /** The key of the client. */
  current: Key = { id: '', key: '' };
  private store!: TestStore;
  private adminOrigin = '';
  private adminToken = '';
  private advancedSeconds = 0;

  private constructor(
    private readonly workplace: Workplace,
    private readonly databaseUrl: string,
  ) {}

  /** @param postgres where its database is; SQLite by default */
  static async start(postgres?: PostgresServer): Promise<System> {
    const workplace = new Workplace();
    const url = (await postgres?.createDatabase()) ?? `sqlite:${workplace.databaseFile}`;
    const system = new System(workplace, url);
    await system.open();
    const command = new Workplace({ DATABASE_URL: url });
    const issued = (await command.json('admin', 'issue', '--name', 'model')) as { token: string };
    command.remove();
    system.adminToken = issued.token;
    return system;
  }

  /** Continues as a new client. @returns its state */
  async newClient() {
    this.current = await this.issue(AMPLE);
    return {
      records: new Map<string, never>(),
      isDisabled: false,
      terms: AMPLE,
      banned: undefined,
    };
  }

  async issue(terms: Terms): Promise<Key> {
    const body = { name: 'model', scopes: SCOPES, ...terms };
    return (await this.send('POST', '', body)) as Key;
  }

  /** Changes a key by the admin API. @param change members, or the last segment of a path */
  async administer(method: string, { id }: Key, change: object | string): Promise<void> {
    if (typeof change === 'string') await this.send(method, `/${id}/${change}`, {});
    else await this.send(method, `/${id}`, change);
  }

  fetch(path: string, request: TestRequest): Promise<Response> {
    return this.store.fetch(path, request);
  }

  advance(seconds: number): void {
    this.advancedSeconds += seconds;
    this.store.clock.advance(seconds);
  }

  async restart(): Promise<void> {
    await this.store.close();
    await this.open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    this.workplace.remove();
  }

  /** The clock of a new process continues. */
  private async open(): Promise<void> {
    const port = await freePort();
    this.adminOrigin = `http://127.0.0.1:${port}`;
    const { databaseUrl } = this;
    const env = Object.assign({ ADMIN_PORT: String(port) }, ENV);
    this.store = await startTestStore({ databaseUrl, env });
    this.store.clock.advance(this.advancedSeconds);
  }

  private async send(method: string, path: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.adminOrigin}/admin/v1/keys${path}`, {
      method,
      headers: { authorization: `Bearer ${this.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}
