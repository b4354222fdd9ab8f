import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAdminService } from '../support/admin.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { metricValue } from '../support/metrics.js';
import { recordedLog } from '../support/recorded-log.js';
import { jsonInProcess, runInProcess } from '../support/run-program.js';
import { startAndClose, startService } from '../support/start-service.js';

const plans = { team: { perMinute: 600, perDay: 50_000 }, free: { perMinute: 7, perDay: 70 } };

describe('plans of the configuration', () => {
  it('apply to requests, metrics and the document', async () => {
    await using service = await startService({ plans });
    const limitOf = async (plan: string) => {
      const client = await service.client({ plan });
      return (await client.get('/v1/pets')).headers['x-ratelimit-limit'];
    };
    expect(await limitOf('team')).toBe('600');
    expect(await limitOf('free')).toBe('7');
    expect(await limitOf('pro')).toBe('300');
    const usage = (await (await service.client({ plan: 'team' })).get('/v1/usage')).json();
    expect(usage).toMatchObject({ plan: 'team', limits: { day: { limit: 50_000 } } });
    const decisions = { plan: 'team', decision: 'admitted' };
    expect(await metricValue(service, 'petstore_rate_limit_decisions_total', decisions)).toBe(1);
    const document = (await service.anonymous().get('/openapi.json')).json();
    const names = ['free', 'pro', 'business', 'team', 'enterprise'];
    for (const schema of ['Usage', 'Key']) {
      expect(document.components.schemas[schema].properties.plan.enum).toEqual(names);
    }
    expect(document.info.description).toContain('| Team | 600 | 50,000 |');
    expect(document.info.description).toContain('| Free | 7 | 70 |');
  });

  it('may have long names', async () => {
    const longest = `a-plan-${'x'.repeat(57)}`;
    await using service = await startService({ plans: { [longest]: plans.team } });
    const usage = await (await service.client({ plan: longest })).get('/v1/usage');
    expect(usage.json()).toMatchObject({ plan: longest, limits: { minute: { limit: 600 } } });
  });

  it('stop the start if a key has a plan that is gone', async () => {
    await using service = await startService({ plans });
    await service.client({ plan: 'team' });
    const { databaseUrl } = service.config;
    // One SQLite file belongs to one server.
    await service.store.close();
    const start = startAndClose({ env: { DATABASE_URL: databaseUrl } });
    await expect(start).rejects.toThrow(/^keys have the plan team, which does not exist: [^\n]+$/);
  });

  describe('on the command line', () => {
    const { DATABASE_URL } = process.env;
    let directory: string;
    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'petstore-plans-'));
      process.env['DATABASE_URL'] = `sqlite:${directory}/petstore.db`;
    });
    afterAll(() => {
      if (DATABASE_URL === undefined) delete process.env['DATABASE_URL'];
      else process.env['DATABASE_URL'] = DATABASE_URL;
      rmSync(directory, { recursive: true });
    });
    const configure = (name: string, own: object): string[] => {
      const file = join(directory, name);
      writeFileSync(
        file,
        `module.exports = { __esModule: true, default: ${JSON.stringify({ extensions: [], plans: own })} }`,
      );
      return ['--config', file];
    };

    it('are accepted by the commands for keys', async () => {
      const config = configure('plans.js', plans);
      await runInProcess('migrate', ...config);
      const issue = ['keys', 'issue', '--name', 'Zoo', '--json'];
      const issued = await runInProcess(...issue, '--plan', 'team', ...config);
      expect(JSON.parse(issued.out)).toMatchObject({ plan: 'team', ...plans.team });
      const listed = await runInProcess('keys', 'list', '--plan', 'team', '--json', ...config);
      expect(JSON.parse(listed.out)).toMatchObject([{ plan: 'team', ...plans.team }]);
      for (const command of [
        [...issue, '--plan', 'gone'],
        ['keys', 'list', '--plan', 'gone'],
      ]) {
        const { code, err } = await runInProcess(...command, ...config);
        expect([code, err]).toEqual([
          2,
          expect.stringMatching(/^error: unknown plan gone; [^\n]+\n$/),
        ]);
      }
    });

    it('cause a 503 of a server that was started before, and its log has the plan', async () => {
      const { logger, lines } = recordedLog();
      const { admin, service: started } = await startAdminService({ logger });
      await using service = started;
      const client = await service.client({ plan: 'free' });
      expect((await client.get('/v1/pets')).status).toBe(200);
      const change = ['keys', 'set-plan', client.keyId!, '--plan', 'team'];
      const { databaseUrl } = service.config;
      await jsonInProcess(databaseUrl, ...change, ...configure('later.js', plans));
      await eventually(async () => (await client.get('/v1/pets')).status === 503);
      const own = `/admin/v1/keys/${client.keyId}`;
      for (const answer of [
        await client.get('/v1/pets'),
        await client.get('/v1/usage'),
        await admin.get(`${own}/usage`),
      ]) {
        expectError(answer, 503, 'service_unavailable');
      }
      const { details } = lines.find(({ level }) => level === 'warn')!;
      expect(details.err.message).toMatch(/^keys have the plan team, which does not exist: /);
      const listed = (await admin.get('/admin/v1/keys')).json();
      expect(listed).toContainEqual(expect.objectContaining({ id: client.keyId, plan: 'team' }));
      expect((await admin.get(own)).json()).toMatchObject({ plan: 'team', perMinute: null });
      const changed = await admin.post(own, { plan: 'pro' }, {}, 'PATCH');
      expect(changed.json()).toMatchObject({ plan: 'pro', perMinute: 300 });
      await eventually(async () => (await client.get('/v1/pets')).status === 200);
    });

    it.each([
      ['a name', { Team: plans.team }, /^error: plan "Team": its name must be/],
      [
        'an agreed limit',
        { enterprise: plans.team },
        /"enterprise": its limits are set for each key/,
      ],
      [
        'a member',
        { team: { ...plans.team, perHour: 1 } },
        /"team": perHour is not a known member/,
      ],
      [
        'a limit',
        { team: { perMinute: 0, perDay: 5 } },
        /^error: plan "team": perMinute must be an integer between 1 and/,
      ],
    ])('are rejected with one line for %s that is invalid', async (what, own, message) => {
      const config = configure(`${what.replace(' ', '-')}.js`, own);
      const { code, out, err } = await runInProcess('keys', 'list', ...config);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(message);
      expect(err).toMatch(/^error: [^\n]+\n$/);
    });
  });
});
