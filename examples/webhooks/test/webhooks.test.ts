import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestStore, type TestStore } from 'pet-store-service/testing';
import { Webhook } from 'standardwebhooks';
import { storeWebhooks } from '../src/index.js';

interface Received {
  headers: Record<string, string>;
  payload: string;
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
  let received: Received[] = [];
  const receiver = createServer((request, response) => {
    void textOf(request).then((payload) => {
      received.push({ headers: request.headers as Record<string, string>, payload });
      response.writeHead(status).end();
    });
  });

  before(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
  });
  after(() => receiver.close());
  beforeEach(async () => {
    status = 204;
    received = [];
    const { port } = receiver.address() as AddressInfo;
    const WEBHOOKS_URLS = `http://127.0.0.1:${port}/hook`;
    store = await startTestStore({
      extensions: [storeWebhooks],
      env: { WEBHOOKS_URLS, WEBHOOKS_SECRET: SECRET },
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
    const event = new Webhook(SECRET).verify(payload, headers) as Record<string, unknown>;
    assert.equal(event.type, 'pet.created');
    assert.ok(payload.includes(`"categoryId":${BIG}`));
    assert.throws(() => new Webhook(SECRET).verify(`${payload} `, headers));
  });

  it('report a banned key', async () => {
    const limited = await store.issueKey({ perMinute: 1, perDay: 1_000 });
    await eventually(async () => {
      await store.fetch('/v1/pets', { key: limited });
      return received.length === 1;
    });
    const { type, data } = JSON.parse(received[0]!.payload) as { type: string; data: object };
    assert.equal(type, 'key.banned');
    assert.deepEqual(Object.keys(data), ['keyId', 'clientId', 'until']);
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
});
