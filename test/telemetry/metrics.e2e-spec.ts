import { issueAdminToken } from '../support/admin.js';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { jsonInProcess } from '../support/run-program.js';
import { unknownKey } from '../support/unknown-key.js';
import { describeWith } from '../support/engines.js';
import { FakeClock } from '../support/clock.js';
import { metricLines, metricValue } from '../support/metrics.js';
import { startService, type TestService } from '../support/start-service.js';
import { Client } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { sendRaw } from '../support/raw-answers.js';

/** `petstore keys ARGV`. */
const keysOf = ({ config }: TestService, ...argv: string[]) =>
  jsonInProcess(config.databaseUrl, 'keys', ...argv);

describe('metrics', () => {
  it('are served on a separate port, with the prefix petstore_', async () => {
    const port = String(await freePort());
    await using service = await startService({ env: { METRICS_PORT: port } });
    const client = await service.client();
    await client.get('/v1/pets');
    await client.get('/v1/pets/1');
    const metrics = new Client(`http://127.0.0.1:${port}`);
    const { status, text, headers } = await metrics.get('/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=/);
    const count = 'petstore_http_request_duration_seconds_count';
    expect(text).toContain(`\n${count}{operation="listPets",method="GET",status="200"} 1\n`);
    expect(text).toContain(`\n${count}{operation="getPet",method="GET",status="404"} 1\n`);
    expect(text).toMatch(/^petstore_quota_store{mode="memory"} 1$/m);
    expect(text).toMatch(/^petstore_quota_store{mode="redis"} 0$/m);
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names.filter((name) => !name!.startsWith('petstore_'))).toEqual([]);
    expect((await metrics.get('/')).status).toBe(404);
    expect((await client.get('/metrics')).status).toBe(404);
  });

  it('count the active keys without a successor that expire within 14 days', async () => {
    // The command line has no other clock.
    const clock = new FakeClock(Date.now());
    await using service = await startService({ clock });
    const after = (days: number) => ({ expiresAt: clock.now() + days * 86_400_000 });
    const expiring = () => metricValue(service, 'petstore_keys_expiring', { days: '14' });
    for (const days of [1, 13, 15]) await service.client(after(days));
    await service.client();
    const [rotated, disabled, revoked] = [
      await service.client(after(2)),
      await service.client(after(2)),
      await service.client(after(2)),
    ];
    expect(await expiring()).toBe(5);
    for (const days of [undefined, 13, 15]) {
      const expiresAt = days && clock.now() + days * 86_400_000;
      await issueAdminToken(service, 'ann', { expiresAt });
    }
    const tokens = await metricValue(service, 'petstore_admin_tokens_expiring', { days: '14' });
    expect(tokens).toBe(1);
    await keysOf(service, 'rotate', rotated.keyId!);
    await keysOf(service, 'disable', disabled.keyId!);
    await keysOf(service, 'revoke', revoked.keyId!, '--yes');
    // The successor of the rotated key expires as agreed.
    expect(await expiring()).toBe(3);
    clock.advance(2 * 86_400_000);
    expect(await expiring()).toBe(2);
  });

  it('are on the host of METRICS_HOST', async () => {
    const env = { METRICS_HOST: '127.0.0.2', METRICS_PORT: String(await freePort()) };
    await using service = await startService({ env });
    const response = await fetch(`http://127.0.0.2:${env.METRICS_PORT}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await (await service.client()).get('/metrics')).status).toBe(404);
    await expect(fetch(`http://127.0.0.1:${env.METRICS_PORT}/metrics`)).rejects.toThrow();
  });

  it('disconnect a client that sends no request', async () => {
    const port = await freePort();
    const env = { METRICS_PORT: String(port), HEADERS_TIMEOUT_SECONDS: '1' };
    const service = await startService({ env });
    const silent = connect(port, '127.0.0.1');
    silent.resume();
    await once(silent, 'close');
    await service.close();
  });

  it('are sent once per connection: a thousand requests at once do not hold up the API', async () => {
    const port = await freePort();
    await using service = await startService({ env: { METRICS_PORT: String(port) } });
    const request = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
    const answers = await sendRaw(
      service.origin.replace(/\d+$/, String(port)),
      request.repeat(1_000),
      Infinity,
    );
    expect(answers.match(/^HTTP\/1\.1 200 /gm)).toHaveLength(1);
    // The connection ends with the response, as it says.
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.on('error', () => undefined).write('HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    const [head] = (await once(socket, 'data')) as [string];
    expect(head).toMatch(/^connection: close\r$/im);
    let after = '';
    socket.on('data', (chunk: string) => (after += chunk)).write(request);
    await once(socket, 'close');
    expect(after).toBe('');
  });

  it('count decisions, bans, failed authentication, replays and deprecated calls', async () => {
    await using service = await startService({
      clock: new FakeClock(),
      env: { BAN_AFTER_REJECTIONS: '2', FAILED_AUTH_PER_MINUTE: '4' },
    });
    const client = await service.client({ plan: 'enterprise', perMinute: 3, perDay: 9 });
    const daily = await service.client({ plan: 'enterprise', perMinute: 5, perDay: 1 });
    const pet = { name: 'Rex', categoryId: 1 };
    await (await service.client()).post('/v1/pets', pet);
    for (let round = 0; round < 2; round++) {
      await client.post('/v1/pets', pet, { 'idempotency-key': 'one' });
    }
    for (let round = 0; round < 6; round++) await client.get('/v1/pets/1');
    for (let round = 0; round < 2; round++) await daily.get('/v1/pets');
    const anonymous = service.anonymous();
    const send = (authorization?: string) =>
      anonymous.get('/v1/pets', authorization === undefined ? {} : { authorization });
    await send();
    await send('Bearer nonsense');
    await send(`Bearer ${unknownKey()}`);
    const gone = await service.client();
    await keysOf(service, 'revoke', gone.keyId!, '--yes');
    await send(`Bearer ${gone.key}`);
    await send();

    const value = (name: string, labels: Record<string, string>) =>
      metricValue(service, `petstore_${name}`, labels);
    const decision = (decision: string) =>
      value('rate_limit_decisions_total', { plan: 'enterprise', decision });
    expect(await decision('admitted')).toBe(5);
    expect(await decision('minute')).toBe(2);
    expect(await decision('banned')).toBe(3);
    expect(await decision('day')).toBe(1);
    expect(await value('bans_total', { plan: 'enterprise' })).toBe(1);
    expect(await value('idempotent_replays_total', {})).toBe(1);
    expect(await value('deprecated_calls_total', { operation: 'getPet' })).toBe(6);
    const failures = 'authentication_failures_total';
    for (const reason of ['missing', 'malformed', 'unknown', 'revoked', 'address_limited']) {
      expect([reason, await value(failures, { reason })]).toEqual([reason, 1]);
    }
    expect(await value('key_cache_total', { result: 'miss' })).toBeGreaterThan(1);
    expect(await value('key_cache_total', { result: 'hit' })).toBeGreaterThan(4);
    expect(await value('commit_batch_size_count', {})).toBeGreaterThan(0);
    const queries = 'database_query_duration_seconds_count';
    for (const statement of ['pets.find', 'commit', 'typeorm']) {
      expect(await value(queries, { statement })).toBeGreaterThan(0);
    }
    expect(await value('database_pool', { state: 'waiting' })).toBe(0);
  });

  it('have bounded labels for invented paths and methods', async () => {
    await using service = await startService();
    const client = await service.client();
    for (const method of ['GET', 'PURGE', 'REPORT', 'LOCK', 'MKCOL', 'SEARCH']) {
      for (let path = 0; path < 3; path++) await client.send(`/v1/made-up-${path}`, { method });
    }
    const lines = (await metricLines(service)).filter((line) =>
      line.startsWith('petstore_http_request_duration_seconds_count{'),
    );
    expect(lines).toHaveLength(2);
  });

  describeWith('promtool', 'with promtool', (promtool) => {
    it('pass promtool check metrics', async () => {
      await using service = await startService();
      await (await service.client()).get('/v1/pets');
      const input = (await metricLines(service)).join('\n');
      const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], {
        input,
        encoding: 'utf8',
      });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    });
  });
});
