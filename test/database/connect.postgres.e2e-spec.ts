import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { describeOnPostgres, describeWith, findEngine } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { freePort } from '../support/free-port.js';
import { PostgresServer, unprivileged } from '../support/postgres.js';
import { jsonInProcess, runInProcess } from '../support/run-program.js';
import { startAndClose } from '../support/start-service.js';

interface Finding {
  check: string;
  status: string;
  detail: string;
  fix: string | null;
}

describeOnPostgres('connecting to PostgreSQL', (server) => {
  const environment = { ...process.env };
  afterEach(() => {
    process.env = { ...environment };
  });

  /** The line with which each command ends that needs the database. */
  async function expectRefused(url: string, message: RegExp): Promise<void> {
    Object.assign(process.env, { DATABASE_URL: url, PORT: '0', METRICS_PORT: '0' });
    const { code, err } = await runInProcess('migrate');
    expect({ code, lines: err.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 });
    expect(err).toMatch(message);
    await expect(startAndClose({ env: { DATABASE_URL: url } })).rejects.toThrow(message);
    const [finding] = await findings('failed');
    expect(`${finding!.detail}; ${finding!.fix}`).toMatch(message);
  }

  async function findings(status: string): Promise<Finding[]> {
    const { out } = await runInProcess('doctor', '--json');
    return (JSON.parse(out) as { checks: Finding[] }).checks.filter(
      (each) => each.status === status,
    );
  }

  it.each(['LATIN1', 'SQL_ASCII'])('rejects the encoding %s', async (encoding) => {
    const name = `of_${encoding.toLowerCase()}`;
    await server.query(
      `CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`,
    );
    await expectRefused(
      server.url.replace(/postgres$/, name),
      new RegExp(`database ${name} has the encoding ${encoding} instead of UTF8; create one with`),
    );
  });

  it.each([-1, 1])('rejects a clock that is %d hour off', async (hours) => {
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + hours * 3_600_000);
    await expectRefused(server.url, /clock differs by 3\d{3} s from the clock of this .*NTP/);
    clock.mockRestore();
  });

  it('reports host, port, cause and fix of an unreachable database', async () => {
    const port = await freePort();
    await expectRefused(
      `postgres://zoo:secret@127.0.0.1:${port}/zoo`,
      new RegExp(
        `PostgreSQL at 127.0.0.1:${port} cannot be used: .*ECONNREFUSED.*; start PostgreSQL`,
      ),
    );
    await expectRefused(
      server.url.replace(/postgres$/, 'nowhere'),
      /database "nowhere" does not exist; create the database, or correct its name/,
    );
  });

  it('reports the fix for a certificate of a private CA, and accepts the certificate with it', async () => {
    await using secured = await PostgresServer.start(findEngine('postgres')!);
    await secured.secure();
    const warned = jest.spyOn(process, 'emitWarning');
    const url = secured.url.replace('127.0.0.1', 'localhost');
    for (const mode of ['require', 'verify-full']) {
      await expectRefused(
        `${url}?sslmode=${mode}`,
        /PostgreSQL at localhost:\d+ cannot be used: self-signed certificate; add sslrootcert=FILE/,
      );
    }
    for (const [file, fix] of [
      ['src', /EISDIR.*; correct the path of the certificate/],
      ['package.json', /self-signed certificate; .* if it is set, check that FILE/],
    ] as const) {
      await expectRefused(`${url}?sslmode=require&sslrootcert=${file}`, fix);
    }
    await jsonInProcess(`${url}?sslmode=require&sslrootcert=${secured.certificate}`, 'migrate');
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    await expectRefused(`${server.url}?sslmode=require`, /does not support SSL.*; turn TLS on/);
  });

  it('fails if the server stops responding during the checks', async () => {
    // By default, the server itself closes a silent connection after a minute.
    const settings = ['authentication_timeout=600'];
    await using own = await PostgresServer.start(findEngine('postgres')!, ...settings);
    await using proxy = await FaultProxy.start(own.port);
    process.env['DATABASE_URL'] = own.url.replace(`:${own.port}`, `:${proxy.port}`);
    const query = DataSource.prototype.query;
    const firstQuery = jest.spyOn(DataSource.prototype, 'query');
    firstQuery.mockImplementationOnce(async function (this: DataSource, text: string) {
      const rows: unknown = await query.call(this, text);
      proxy.stall();
      return rows;
    });
    const { code, err } = await runInProcess('migrate');
    firstQuery.mockRestore();
    expect(code).toBe(1);
    expect(err).toMatch(/^error: .*timeout.*\n$/);
  });

  it.each(['FROM petstore_migrations', 'pg_advisory_xact_lock', 'CREATE TABLE "api_keys"'])(
    'reports a connection that breaks at %s',
    async (statement) => {
      await using proxy = await FaultProxy.start(server.port);
      const url = await server.createDatabase();
      process.env['DATABASE_URL'] = url.replace(`:${server.port}`, `:${proxy.port}`);
      const query = PostgresQueryRunner.prototype.query;
      const spy = jest.spyOn(PostgresQueryRunner.prototype, 'query');
      spy.mockImplementation(function (this: PostgresQueryRunner, ...args) {
        if (args[0].includes(statement)) proxy.refuse();
        return query.apply(this, args) as Promise<unknown>;
      });
      const { code, err } = await runInProcess('migrate');
      spy.mockRestore();
      expect(code).toBe(1);
      expect(err).toMatch(/^error: .*; the server in DATABASE_URL closed the connection[^\n]*\n$/);
    },
  );

  describeWith('pgbouncer', 'through PgBouncer', (pgbouncer) => {
    const directory = mkdtempSync(join(tmpdir(), 'petstore-pgbouncer-'));
    let pooler: ChildProcess;
    let url: string;
    beforeAll(async () => {
      const port = await freePort();
      const database = await server.createDatabase();
      await jsonInProcess(database, 'migrate');
      const name = database.split('/').at(-1)!;
      url = `postgres://postgres@127.0.0.1:${port}/${name}`;
      writeFileSync(join(directory, 'users.txt'), '"postgres" ""\n');
      writeFileSync(
        join(directory, 'pgbouncer.ini'),
        `[databases]
${name} = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${directory}/users.txt
pool_mode = transaction
ignore_startup_parameters = extra_float_digits
`,
      );
      chmodSync(directory, 0o755);
      pooler = spawn(pgbouncer, ['-q', join(directory, 'pgbouncer.ini')], {
        ...unprivileged(),
        stdio: 'ignore',
      });
      await eventually(() =>
        server.query('SELECT 1', url).then(
          () => true,
          () => false,
        ),
      );
    });
    afterAll(async () => {
      pooler.kill('SIGKILL');
      await once(pooler, 'close');
      rmSync(directory, { recursive: true });
    });

    it('reports the startup parameter that the pooler rejects, then the statements that it loses', async () => {
      const file = join(directory, 'pgbouncer.ini');
      const accept = (parameters: string): void => {
        execFileSync('sed', ['-i', `s/^ignore_startup.*/&,${parameters}/`, file]);
        pooler.kill('SIGHUP');
      };
      await expectRefused(
        url,
        /unsupported startup parameter: statement_timeout; add statement_timeout/,
      );
      accept('statement_timeout,idle_in_transaction_session_timeout');
      const version = execFileSync(pgbouncer, ['--version'], { encoding: 'utf8' });
      if (/ 1\.(?:1\d|20)\./.test(version)) {
        await expectRefused(
          url,
          /prepared statement .*; this pooler loses prepared statements: use its session mode/,
        );
      } else {
        await jsonInProcess(url, 'keys', 'list');
      }
    });
  });
});
