import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig, settingsOf } from 'pet-store-service';
import { startTestStore, type TestStore } from 'pet-store-service/testing';
import { Webhook } from 'standardwebhooks';
import { storeWebhooks } from '../src/index.js';

interface EventData {
  clientId: string;
  window?: string;
  percent?: number;
}

interface Received {
  path: string;
  headers: Record<string, string>;
  payload: string;
  response: ServerResponse;
}

const { TEST_DATABASE_URL } = process.env;
const SECRET = `whsec_${Buffer.from('a secret of 32 bytes for a test.').toString('base64')}`;
const HOUR_SECONDS = 3_600;
const BIG = '9223372036854775807';

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

async function eventually(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; !(await isTrue()); attempt++) {
    assert.ok(attempt < 400, 'still not true after 20 seconds');
    await pause(50);
  }
}

describe('webhooks', () => {
  let store: TestStore;
  let key: string;
  let status: number;
  let hanging: string | undefined;
  let received: Received[] = [];
  const receiver = createServer((request, response) => {
    void textOf(request).then((payload) => {
      const headers = request.headers as Record<string, string>;
      received.push({ path: request.url!, headers, payload, response });
      if (request.url !== hanging) response.writeHead(status).end();
    });
  });

  before(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
  });
  after(() => receiver.close());
  beforeEach(async () => {
    status = 204;
    hanging = undefined;
    received = [];
    const { port } = receiver.address() as AddressInfo;
    const WEBHOOKS_URLS = `http://127.0.0.1:${port}/hook`;
    const WEBHOOKS_OPERATOR_URLS = `http://127.0.0.1:${port}/operator`;
    store = await startTestStore({
      extensions: [storeWebhooks],
      env: { WEBHOOKS_URLS, WEBHOOKS_OPERATOR_URLS, WEBHOOKS_SECRET: SECRET },
      ...(TEST_DATABASE_URL !== undefined && { databaseUrl: TEST_DATABASE_URL }),
    });
    key = await store.issueKey({ scopes: ['pets:write', 'webhooks:read'] });
  });
  afterEach(() => store.close());

  async function createPet(): Promise<void> {
    const body = `{"name":"Rex","categoryId":${BIG}}`;
    assert.equal((await store.fetch('/v1/pets', { key, method: 'POST', body })).status, 201);
  }

  async function deadLetters(): Promise<Record<string, unknown>[]> {
    const answer = await store.fetch('/v1/webhooks/dead-letters', { key });
    assert.equal(answer.status, 200);
    return (await answer.json()) as Record<string, unknown>[];
  }

  const isReceived = (count: number) => eventually(() => received.length === count);

  it('are delivered with a signature of Standard Webhooks, and with exact integers', async () => {
    await createPet();
    await isReceived(1);
    const { headers, payload } = received[0]!;
    assert.equal(received[0]!.path, '/hook');
    const event = new Webhook(SECRET).verify(payload, headers) as Record<string, unknown>;
    assert.equal(event.type, 'pet.created');
    assert.ok(payload.includes(`"categoryId":${BIG}`));
    assert.throws(() => new Webhook(SECRET).verify(`${payload} `, headers));
  });

  it('report to the operator a quota that is nearly used, and a banned key', async () => {
    const limited = await store.issueKey({ perMinute: 4, perDay: 1_000 });
    for (let request = 0; request < 4; request++) await store.fetch('/v1/pets', { key: limited });
    await isReceived(3);
    await eventually(async () => {
      await store.fetch('/v1/pets', { key: limited });
      return received.length === 4;
    });
    const events = received.map(({ path, headers, payload }) => {
      assert.equal(path, '/operator');
      return new Webhook(SECRET).verify(payload, headers) as { type: string; data: EventData };
    });
    const quotas = events.filter(({ type }) => type === 'quota.threshold');
    assert.deepEqual(quotas.map(({ data }) => data.percent).sort(), [100, 75, 90]);
    for (const { data } of quotas) assert.equal(data.window, 'minute');
    const [ban] = events.filter(({ type }) => type === 'key.banned');
    assert.deepEqual(Object.keys(ban!.data), ['keyId', 'clientId', 'until']);
    assert.equal(ban!.data.clientId, quotas[0]!.data.clientId);
  });

  it('are sent again with the same id, later and later, until the receiver accepts them', async () => {
    status = 500;
    await createPet();
    await isReceived(1);
    store.clock.advance(5);
    await isReceived(2);
    store.clock.advance(5);
    await pause(1_500);
    assert.equal(received.length, 2);
    status = 200;
    store.clock.advance(5 * 60);
    await isReceived(3);
    store.clock.advance(25 * HOUR_SECONDS);
    await pause(1_500);
    assert.equal(received.length, 3);
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1);
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size, 3);
    assert.deepEqual(await deadLetters(), []);
  });

  it('become dead letters after 24 hours, which a scope of their own may list', async () => {
    status = 503;
    await createPet();
    await isReceived(1);
    assert.deepEqual(await deadLetters(), []);
    store.clock.advance(24 * HOUR_SECONDS);
    await isReceived(2);
    await eventually(async () => (await deadLetters()).length === 1);
    const [letter] = await deadLetters();
    assert.deepEqual([letter!.attempts, letter!.lastError], [2, 'HTTP 503']);
    assert.equal(letter!.payload, received[0]!.payload);
    store.clock.advance(24 * HOUR_SECONDS);
    await pause(1_500);
    assert.equal(received.length, 2);

    const other = await store.issueKey({ scopes: ['pets:read'] });
    const rejected = await store.fetch('/v1/webhooks/dead-letters', { key: other });
    assert.equal(rejected.status, 403);
    store.clock.advance(31 * 24 * HOUR_SECONDS);
    await eventually(async () => (await deadLetters()).length === 0);
  });

  it('need URLs without credentials, which no message shows', () => {
    const load = (WEBHOOKS_URLS: string) =>
      loadConfig({ WEBHOOKS_URLS, WEBHOOKS_SECRET: SECRET }, settingsOf([storeWebhooks]));
    for (const url of [
      'http://operator:secret@127.0.0.1/hook',
      'http://operator@127.0.0.1/hook',
      'http://256.0.0.1/hook',
      'http://127.0.0.1:65536/hook',
      'ftp://127.0.0.1/hook',
      '/hook',
      '',
    ]) {
      assert.throws(
        () => load(`http://127.0.0.1/hook,${url}`),
        ({ message }: Error) => {
          assert.match(message, /WEBHOOKS_URLS must be http or https URLs without credentials/);
          assert.doesNotMatch(message, /secret/);
          return true;
        },
      );
    }
    load('http://127.0.0.1:7799/hook,https://[::1]/a?b=@,http://my_host');
  });

  // The last test: on PostgreSQL, its rows stay.
  it('are not delayed by an endpoint that hangs', async () => {
    hanging = '/operator';
    const limited = await store.issueKey({ perMinute: 4, perDay: 1_000 });
    for (let request = 0; request < 4; request++) await store.fetch('/v1/pets', { key: limited });
    await eventually(() => received.length > 0);
    await createPet();
    await eventually(() => received.some(({ path }) => path === '/hook'));
    assert.equal(received[0]!.response.destroyed, false);
  });
});
