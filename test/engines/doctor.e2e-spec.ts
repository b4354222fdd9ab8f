import type { Finding } from '../../src/cli/doctor.findings.js';
import { describeOnPostgres } from '../support/engines.js';
import { jsonInProcess, runInProcess } from '../support/run-program.js';

jest.setTimeout(60_000);

describeOnPostgres('petstore doctor', (server) => {
  const environment = { ...process.env };
  afterEach(() => {
    process.env = { ...environment };
  });

  async function checks(settings: Record<string, string>): Promise<Finding[]> {
    Object.assign(process.env, settings);
    const { out, err } = await runInProcess('doctor', '--json');
    expect(err).toBe('');
    return (JSON.parse(out) as { checks: Finding[] }).checks;
  }

  it('reports the version, an outdated schema, and the offset of the clock', async () => {
    const url = await server.createDatabase();
    // Of another application.
    await server.query(`CREATE TABLE migrations AS SELECT 1 AS id, 'Other1' AS name`, url);
    expect(await checks({ DATABASE_URL: url })).toContainEqual(
      expect.objectContaining({
        check: 'schema',
        status: 'failed',
        fix: expect.stringMatching(/^run petstore migrate/),
      }),
    );
    await jsonInProcess(url, 'migrate');
    const found = await checks({ DATABASE_URL: url });
    const details = Object.fromEntries(found.map(({ check, detail }) => [check, detail]));
    expect(details).toMatchObject({
      database: expect.stringMatching(/^PostgreSQL \d+/),
      schema: expect.stringMatching(/^up to date/),
      clock: expect.stringMatching(/^database clock is \d+ ms (?:ahead of|behind) this machine$/),
    });
  });

  it('reports fixes that work for a role that may neither create nor read tables', async () => {
    const url = await server.createDatabase();
    await server.query('CREATE ROLE bare LOGIN');
    const settings = { DATABASE_URL: url.replace('postgres@', 'bare@') };
    const failure = async () =>
      (await checks(settings)).find(({ status }) => status === 'failed')?.fix ?? 'none';
    expect(await failure()).toMatch(/^run petstore migrate, with a role that may create tables/);
    await jsonInProcess(url, 'migrate');
    expect(await failure()).toMatch(/^grant the missing privilege/);
    await server.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO bare', url);
    expect(await failure()).toBe('none');
  });
});
