import { issueAdminToken, startAdminService } from '../support/admin.js';
import { Client } from '../support/client.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { metricLines } from '../support/metrics.js';
import { freePort } from '../support/free-port.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService } from '../support/start-service.js';

const PLAIN = { 'x-forwarded-proto': 'http' };
const BEHIND_TLS = {
  PUBLIC_BASE_URL: 'https://api.example.com/v1',
  TRUST_PROXY: '127.0.0.1',
};

describe('a credential that was sent without TLS', () => {
  it('is rejected after the quota and before the scope, with a warning that names the key', async () => {
    const { logger, lines } = recordedLog();
    const env = { ...BEHIND_TLS, METRICS_PORT: String(await freePort()) };
    await using service = await startService({ env, logger });
    const limits = { plan: 'enterprise', perMinute: 4, perDay: 90 } as const;
    const client = await service.client({ ...limits, scopes: [] });
    for (const path of ['/v1/pets', '/v1/usage', '/v1/nope']) {
      const rejected = await client.get(path, PLAIN);
      expectError(rejected, 403, 'https_required');
      expectRateHeaders(rejected);
      expect(rejected.headers).not.toHaveProperty('location');
    }
    // The nearest proxy counts, in any case.
    const chain = { 'x-forwarded-proto': 'https, HTTP' };
    expectError(await client.get('/v1/pets', chain), 403, 'https_required');
    const https = { 'x-forwarded-proto': 'https' };
    expectError(await client.get('/v1/pets', https), 403, 'insufficient_scope');
    expectError(await client.get('/v1/pets', PLAIN), 429, 'rate_limit_exceeded');
    expect((await client.get('/v1/usage', https)).status).toBe(200);
    const invalid = { ...PLAIN, authorization: 'Bearer psk_unknown' };
    expectError(await service.anonymous().get('/v1/pets', invalid), 401, 'invalid_api_key');
    expect((await service.anonymous().get('/docs', PLAIN)).status).toBe(200);

    const warnings = lines.filter(({ details }) => details.event === 'insecure');
    const { keyId } = client;
    expect(warnings).toHaveLength(4);
    for (const { level, details } of warnings) {
      expect([level, details]).toEqual(['warn', expect.objectContaining({ keyId })]);
    }
    expect(JSON.stringify(lines)).not.toContain(client.key);
    expect(await metricLines(service)).toContain('petstore_insecure_requests_total 4');
  });

  it.each([
    ['an http: address', { ...BEHIND_TLS, PUBLIC_BASE_URL: 'http://api.example.com/v1' }, PLAIN],
    ['a sender that is no trusted proxy', { ...BEHIND_TLS, TRUST_PROXY: '10.0.0.1' }, PLAIN],
    ['TRUST_PROXY=false', { ...BEHIND_TLS, TRUST_PROXY: 'false' }, PLAIN],
    ['a proxy that reports nothing', BEHIND_TLS, {}],
    ['a proxy that reports a WebSocket over TLS', BEHIND_TLS, { 'x-forwarded-proto': 'WSS' }],
  ])('is accepted with %s', async (_what, env, headers: Record<string, string>) => {
    await using service = await startService({ env });
    const client = await service.client();
    expect((await client.get('/v1/pets', headers)).status).toBe(200);
  });

  it('is rejected unless the proxy reports https or wss', async () => {
    await using service = await startService({ env: BEHIND_TLS });
    const client = await service.client();
    for (const reported of ['', 'http,', 'https,', 'ws', 'ftp', 'on', 'xhttps', 'https:']) {
      const answer = await client.get('/v1/pets', { 'x-forwarded-proto': reported });
      expectError(answer, 403, 'https_required');
    }
  });

  it('is rejected by the admin API, with the id of the token', async () => {
    const { logger, lines } = recordedLog();
    const started = await startAdminService({ env: BEHIND_TLS, logger });
    await using service = started.service;
    const { origin } = started;
    const admin = new Client(origin, await issueAdminToken(service, 'eve'));
    expectError(await admin.get('/admin/v1/keys', PLAIN), 403, 'https_required');
    expectError(await admin.post('/admin/v1/keys', {}, PLAIN), 403, 'https_required');
    expect((await admin.get('/admin/v1/keys')).status).toBe(200);
    const wrong = { ...PLAIN, authorization: 'Bearer psa_unknown' };
    expectError(await admin.get('/admin/v1/keys', wrong), 401, 'invalid_api_key');
    expect((await admin.get('/', PLAIN)).status).toBe(200);
    const warnings = lines.filter(({ details }) => details.event === 'insecure');
    const keyId = expect.stringMatching(/^adm_/) as string;
    expect(warnings.map(({ details }) => details.keyId)).toEqual([keyId, keyId]);
  });
});
