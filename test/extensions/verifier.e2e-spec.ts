import { Injectable, Module } from '@nestjs/common';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { jwtCallers } from '../../examples/jwt-callers/jwt-callers.js';
import { type TokenVerifier, type VerifiedCaller } from '../../src/index.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService, type TestService } from '../support/start-service.js';

const issuer = 'https://id.example.com';
const audience = 'pet-store';
// Token verification uses the clock of the machine. This one does not move, so that no window ends.
const clock = new FakeClock(Date.now());
const inAnHour = Math.floor(clock.now() / 1000) + 3_600;

describe('callers with a token (JWT) of an identity provider', () => {
  let service: TestService;
  let privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  beforeAll(async () => {
    const pair = await generateKeyPair('ES256');
    privateKey = pair.privateKey;
    const keys = createLocalJWKSet({ keys: [await exportJWK(pair.publicKey)] });
    service = await startService({ clock, extensions: [jwtCallers({ issuer, audience, keys })] });
  });
  afterAll(() => service?.close());

  /** A client with a new token. */
  async function withToken(claims: Record<string, unknown> = {}): Promise<Client> {
    const common = { iss: issuer, aud: audience, sub: 'zoo', scope: 'pets:read', plan: 'free' };
    const token = new SignJWT({ ...common, ...claims }).setProtectedHeader({ alg: 'ES256' });
    return new Client(service.origin, await token.setExpirationTime(inAnHour).sign(privateKey));
  }

  it('accepts a token with its scopes and quota', async () => {
    const client = await withToken();
    const list = await client.get('/v1/pets');
    expect(list.status).toBe(200);
    expectRateHeaders(list);
    expect(list.headers['x-ratelimit-limit']).toBe('60');
    const pet = { name: 'Rex', categoryId: 1 };
    expectError(await client.post('/v1/pets', pet), 403, 'insufficient_scope');
    const writer = await withToken({ sub: 'writer', scope: 'pets:write' });
    const idempotent = { 'idempotency-key': 'once' };
    const first = await writer.post('/v1/pets', pet, idempotent);
    expect(first.status).toBe(201);
    expect((await writer.post('/v1/pets', pet, idempotent)).json()).toEqual(first.json());
  });

  it.each([
    ['a client that is a number', { client_id: 5 }],
    ['a client of more than 255 characters', { sub: 'x'.repeat(256) }],
    ['an array of scopes', { scope: ['pets:read'] }],
  ])('rejects a token with %s', async (_title, claims) => {
    const client = await withToken(claims);
    expectError(await client.get('/v1/pets'), 401, 'invalid_api_key');
  });

  it('counts all tokens of a client together', async () => {
    const [one, other] = [await withToken({ client_id: 'a' }), await withToken({ client_id: 'a' })];
    await one.get('/v1/pets');
    await other.get('/v1/pets');
    expect((await other.get('/v1/usage')).json()).toMatchObject({
      ...{
        plan: 'free',
        scopes: ['pets:read'],
        expiresAt: new Date(inAnHour * 1000).toISOString(),
      },
      limits: { day: { remaining: 998 } },
    });
  });
});

describe('a verifier', () => {
  const verified: string[] = [];

  @Injectable()
  class Directory {
    find(token: string): VerifiedCaller | undefined | null {
      verified.push(token);
      if (token === 'broken') throw new Error('The directory is away');
      const limits = { perMinute: 2, perDay: 2 };
      if (token === 'odd') return { clientId: 'odd', scopes: [] };
      // A repository of TypeORM returns null if there is no row.
      if (token === 'gone') return null;
      return token === 'known' ? { clientId: 'c', scopes: ['pets:read'], limits } : undefined;
    }
  }

  @Injectable()
  class DirectoryVerifier implements TokenVerifier {
    constructor(private readonly directory: Directory) {}

    async verify(token: string): Promise<VerifiedCaller | undefined | null> {
      return Promise.resolve(this.directory.find(token));
    }
  }

  @Module({ providers: [Directory, DirectoryVerifier] })
  class DirectoryModule {}

  @Module({})
  class RowsModule {}

  it('gives a verifier class the tokens that are not keys, and responds 503 if it fails', async () => {
    await using service = await startService({
      extensions: [{ name: 'd', module: DirectoryModule, verifier: DirectoryVerifier }],
    });
    const ask = (token: string) => new Client(service.origin, token).get('/v1/pets');
    const known = await ask('known');
    expect([known.status, known.headers['x-ratelimit-limit']]).toEqual([200, '2']);
    expectError(await ask('psk_known'), 401, 'invalid_api_key');
    expectError(await ask('unknown'), 401, 'invalid_api_key');
    expectError(await ask('gone'), 401, 'invalid_api_key');
    for (const token of ['broken', 'odd']) {
      const failed = await ask(token);
      expectError(failed, 503, 'service_unavailable');
      expectRateHeaders(failed);
      expect(failed.headers['retry-after']).toBeDefined();
    }
    expect(verified).toEqual(['known', 'unknown', 'gone', 'broken', 'odd']);
  });

  it('rejects a caller that has expired, and responds 503 to one that is not valid', async () => {
    const fixed = new FakeClock(Date.UTC(2026, 5, 15));
    const now = fixed.now() / 1000;
    const caller = { clientId: 'c', scopes: ['pets:read'], limits: { perMinute: 9, perDay: 9 } };
    const rows: Record<string, [caller: object, status: number]> = {
      valid: [{ ...caller, expiresAt: now + 1 }, 200],
      expired: [{ ...caller, expiresAt: now }, 401],
      // One of the service: what is stored for it by its id would be that of another client.
      own: [{ ...caller, clientId: 'key_zoo' }, 401],
      // Extensions store ids: in PostgreSQL, a text has no NUL.
      longest: [{ ...caller, clientId: '🐕'.repeat(255) }, 200],
      long: [{ ...caller, clientId: 'c'.repeat(256) }, 401],
      nul: [{ ...caller, clientId: 'a\0' }, 401],
      lone: [{ ...caller, clientId: '\ud83d' }, 401],
      nobody: [{ ...caller, clientId: '' }, 401],
      number: [{ ...caller, clientId: 7 }, 503],
      scope: [{ ...caller, scopes: 'pets:read' }, 503],
      minute: [{ ...caller, limits: { perMinute: 0, perDay: 9 } }, 503],
      day: [{ ...caller, limits: { perMinute: 9, perDay: 0 } }, 503],
      never: [{ ...caller, expiresAt: 0 }, 503],
      milliseconds: [{ ...caller, expiresAt: fixed.now() + 1000 }, 503],
      infinite: [{ ...caller, expiresAt: Infinity }, 503],
      text: [{ ...caller, expiresAt: String(now + 1) }, 503],
      plan: [{ clientId: 'c', scopes: [], plan: 'gold' }, 503],
    };
    const verify = (token: string) => Promise.resolve(rows[token]![0] as VerifiedCaller);
    const { logger, lines } = recordedLog();
    await using service = await startService({
      logger,
      clock: fixed,
      extensions: [{ name: 'rows', module: RowsModule, verifier: { verify } }],
    });
    for (const [token, [, status]] of Object.entries(rows)) {
      const answer = await new Client(service.origin, token).get('/v1/pets');
      expect([token, answer.status]).toEqual([token, status]);
    }
    const failures = lines.filter(({ level }) => level === 'warn').map(({ details }) => details);
    expect(failures).toHaveLength(9);
    for (const { err } of failures) expect(err.message).toContain('extension rows: ');
    expect(failures.at(-1).err.cause.message).toContain('plan "gold"');
  });
});
