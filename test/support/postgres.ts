import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './free-port.js';

/** A running PostgreSQL. */
export class Postgres {
  constructor(readonly url: string) {}

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Creates an empty database; resolves to its URL. */
  createDatabase(): Promise<string> {
    return createDatabase(this.url);
  }

  query(sql: string, url = this.url): Promise<unknown[]> {
    return query(url, sql);
  }
}

/** A private PostgreSQL in a temporary directory. */
export class PostgresServer extends Postgres implements AsyncDisposable {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly programs: string,
    private readonly directory: string,
    port: number,
    private readonly account: { uid?: number; gid?: number },
    private readonly settings: readonly string[],
  ) {
    super(`postgres://postgres@127.0.0.1:${port}/postgres`);
  }

  /**
   * @param initdb the path of that program; the others are beside it
   * @param settings such as `fsync=on`, which is off by default
   */
  static async start(initdb: string, ...settings: string[]): Promise<PostgresServer> {
    const account = unprivileged();
    const directory = mkdtempSync(join(tmpdir(), 'petstore-postgres-'));
    if (account.uid !== undefined) chownSync(directory, account.uid, account.gid!);
    const options = ['--no-sync', '--auth=trust', '--username=postgres', '--encoding=UTF8'];
    execFileSync(initdb, ['-D', join(directory, 'data'), ...options], {
      ...account,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const server = new PostgresServer(
      ...([dirname(initdb), directory, await freePort(), account, settings] as const),
    );
    await server.run();
    return server;
  }

  /** Turns TLS on with a self-signed certificate, and restarts. */
  async secure(): Promise<void> {
    const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes'];
    const [key, certificate] = ['key', 'crt'].map((end) =>
      join(this.directory, 'data', `server.${end}`),
    );
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key!, '-out', certificate!],
      { ...this.account, cwd: this.directory, stdio: 'ignore' },
    );
    await this.query('ALTER SYSTEM SET ssl = on');
    await this.stop();
    await this.run();
  }

  get certificate(): string {
    return join(this.directory, 'data', 'server.crt');
  }

  /** Starts the server, also after `stop()`. */
  async run(): Promise<void> {
    const settings = [
      ...['fsync=off', 'max_connections=200', `unix_socket_directories=${this.directory}`],
      ...this.settings,
    ];
    this.child = spawn(
      join(this.programs, 'postgres'),
      [
        ...['-D', join(this.directory, 'data'), '-p', String(this.port), '-h', '127.0.0.1'],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...this.account, cwd: this.directory, stdio: 'ignore' },
    );
    const deadline = performance.now() + 60_000;
    while (performance.now() < deadline) {
      const rows = await this.query('SELECT 1').catch(() => undefined);
      if (rows !== undefined) return;
      await new Promise((resume) => setTimeout(resume, 50));
    }
    throw new Error('PostgreSQL did not start');
  }

  /** Immediate shutdown (SIGQUIT), as a crash: what is not on disk is lost. */
  crash(): Promise<void> {
    return this.stop('SIGQUIT');
  }

  /** Fast shutdown (SIGINT). */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const { child } = this;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGCONT');
    child.kill(signal);
    await closed;
  }

  /** Suspends every process of the server; connections stay open. */
  stall(): void {
    this.signalAll('STOP');
  }

  resume(): void {
    this.signalAll('CONT');
  }

  async remove(): Promise<void> {
    if (this.child?.exitCode === null) this.resume();
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  private signalAll(signal: 'STOP' | 'CONT'): void {
    const pid = String(this.child!.pid);
    const children = execFileSync('pgrep', ['-P', pid], { encoding: 'utf8' }).split('\n');
    // A process may have ended meanwhile.
    spawnSync('kill', [`-${signal}`, pid, ...children.filter(Boolean)]);
  }
}

/** Creates a database on a server; resolves to its URL. */
export async function createDatabase(serverUrl: string, template = 'template1'): Promise<string> {
  const name = `test_${process.pid}_${Date.now().toString(36)}_${Math.floor(Math.random() * 1e9)}`;
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return serverUrl.replace(/postgres$/, name);
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

/** PostgreSQL and PgBouncer do not run as root: the account of their packages is used then. */
export function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
