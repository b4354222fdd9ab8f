import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { startTestStore, type TestStore } from 'pet-store-service/testing';
import { storeMcp } from '../src/index.js';

const { TEST_DATABASE_URL } = process.env;
const REVISION = '2026-07-28';
const PINNED: ClientOptions = { versionNegotiation: { mode: { pin: REVISION } } };

describe('the server of the Model Context Protocol', () => {
  let store: TestStore;
  before(async () => {
    store = await startTestStore({
      extensions: [storeMcp({ operations: ['listPets', 'createPet', 'getPet', 'getUsage'] })],
      env: { TRUST_PROXY: '127.0.0.1' },
      ...(TEST_DATABASE_URL !== undefined && { databaseUrl: TEST_DATABASE_URL }),
    });
  });
  after(() => store.close());

  /** Sends a message or a batch without the official client. */
  function post(key: string, message: object, headers: Record<string, string> = {}) {
    const accept = 'application/json, text/event-stream';
    const body = JSON.stringify(message);
    return store.fetch('/v1/mcp', { key, method: 'POST', headers: { accept, ...headers }, body });
  }

  const postBatch = (key: string, batch: object[]) =>
    post(key, batch, { 'mcp-protocol-version': '2025-11-25' });

  function toolCall(id: number, name: string, values: Record<string, unknown> = {}) {
    return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: values } };
  }

  async function connect(key: string, options = PINNED): Promise<Client> {
    const client = new Client({ name: 'agent', version: '1.0.0' }, options);
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    const url = new URL('/v1/mcp', store.url);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return client;
  }

  async function call(client: Client, name: string, values: Record<string, unknown> = {}) {
    const { content, isError } = await client.callTool({ name, arguments: values });
    const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
    return { isError, text: texts[0]!, link: texts[1] };
  }

  async function expectError(answer: ReturnType<typeof call>, code: string): Promise<void> {
    const { isError, text } = await answer;
    assert.deepEqual([isError, (JSON.parse(text) as { code: string }).code], [true, code]);
  }

  it('speaks revision 2026-07-28, and the one before it', async () => {
    const key = await store.issueKey();
    const current = await connect(key);
    assert.equal(current.getNegotiatedProtocolVersion(), REVISION);
    const older = await connect(key, {});
    assert.equal(older.getNegotiatedProtocolVersion(), '2025-11-25');
    assert.equal((await call(older, 'getUsage')).isError, false);
  });

  it('describes each tool as the OpenAPI document describes its operation', async () => {
    const { tools } = await (await connect(await store.issueKey())).listTools();
    assert.deepEqual(
      tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
      [
        ['listPets', true],
        ['createPet', false],
        ['getPet', true],
        ['getUsage', true],
      ],
    );
    const { properties, required } = tools[1]!.inputSchema;
    assert.deepEqual(required, ['body']);
    assert.deepEqual(Object.keys(properties!).sort(), ['Idempotency-Key', 'body']);
    const text = JSON.stringify(tools);
    assert.match(text, /"enum":\["available","pending","sold"\]/);
    assert.doesNotMatch(text, /\$ref/);
  });

  it('creates a pet once for repeated calls with one Idempotency-Key, and lists page by page', async () => {
    const key = await store.issueKey({ scopes: ['pets:read', 'pets:write'] });
    const client = await connect(key);
    const body = { name: 'Rex', categoryId: 7 };
    const first = await call(client, 'createPet', { body, 'Idempotency-Key': 'rex-1' });
    const again = await call(client, 'createPet', { body, 'Idempotency-Key': 'rex-1' });
    assert.deepEqual([first.isError, again.text], [false, first.text]);
    const other = await call(client, 'createPet', { body });
    assert.notEqual(other.text, first.text);

    const { text, link } = await call(client, 'listPets', { limit: 1 });
    assert.deepEqual(JSON.parse(text), [JSON.parse(first.text)]);
    const cursor = new URL(/<([^>]+)>/.exec(link!)![1]!).searchParams.get('cursor');
    const next = await call(client, 'listPets', { limit: 1, cursor });
    assert.deepEqual(JSON.parse(next.text), [JSON.parse(other.text)]);
    // The cursor is the same over HTTP.
    const page = await store.fetch(`/v1/pets?limit=1&cursor=${cursor}`, { key });
    assert.equal(await page.text(), next.text);
    const { headers } = await store.fetch('/v1/pets?limit=1', { key });
    assert.equal(`Link: ${headers.get('link')}`, link);
    const { id } = JSON.parse(first.text) as { id: number };
    assert.equal((await call(client, 'getPet', { petId: id })).text, first.text);
  });

  it('takes null for an argument that is left out, but not in a body', async () => {
    const client = await connect(await store.issueKey({ scopes: ['pets:read', 'pets:write'] }));
    const body = { name: 'Rex', categoryId: 7 };
    const first = await call(client, 'createPet', { body, 'Idempotency-Key': null });
    const second = await call(client, 'createPet', { body, 'Idempotency-Key': null });
    assert.deepEqual([first.isError, second.isError], [false, false]);
    assert.notEqual(second.text, first.text);
    assert.equal((await call(client, 'listPets', { status: null, cursor: null })).isError, false);
    await expectError(
      call(client, 'createPet', { body: { ...body, name: null } }),
      'invalid_request',
    );
    await expectError(call(client, 'getPet', { petId: null }), 'pet_not_found');
  });

  it('rejects an Idempotency-Key that is no string', async () => {
    const client = await connect(await store.issueKey({ scopes: ['pets:write'] }));
    const body = { name: 'Rex', categoryId: 7 };
    for (const key of [7, {}, ['a'], true]) {
      const { isError, text } = await call(client, 'createPet', { body, 'Idempotency-Key': key });
      assert.equal(isError, true);
      assert.match(text, /must be a string/);
    }
  });

  it('passes integers exactly', async () => {
    const { url } = store;
    const key = await store.issueKey({ scopes: ['pets:read', 'pets:write'] });
    const rpc = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"createPet",
      "arguments":{"body":{"name":"Max","categoryId":9223372036854775807}}}}`;
    const accept = 'application/json, text/event-stream';
    const request = { key, method: 'POST', headers: { accept }, body: rpc };
    const answer = await store.fetch(`${url}/v1/mcp`, request);
    assert.match(await answer.text(), /"categoryId\\":9223372036854775807/);
  });

  it('runs a tool with the key of the caller: scopes, validation and quota', async () => {
    const reader = await connect(await store.issueKey({ scopes: ['pets:read'] }));
    const body = { name: 'Rex', categoryId: 7 };
    await expectError(call(reader, 'createPet', { body }), 'insufficient_scope');
    await expectError(call(reader, 'listPets', { limit: 1000 }), 'invalid_request');
    await expectError(call(reader, 'listPets', { colour: 'red' }), 'invalid_request');
    const writer = await connect(await store.issueKey({ scopes: ['pets:write'] }));
    await expectError(call(writer, 'createPet'), 'invalid_request');

    for (const petId of ['.', '..']) {
      const { isError, text } = await call(reader, 'getPet', { petId });
      assert.equal(isError, true);
      assert.match(text, /must not be/);
    }

    const limited = await connect(await store.issueKey({ perMinute: 1, perDay: 10 }));
    assert.equal((await call(limited, 'listPets')).isError, false);
    await expectError(call(limited, 'listPets'), 'rate_limit_exceeded');
    store.clock.advance(60);
    assert.equal((await call(limited, 'listPets')).isError, false);
  });

  it('is limited, not broken, while the pages of an address are', async () => {
    const fresh = await startTestStore({ extensions: [storeMcp({ operations: ['listPets'] })] });
    const key = await fresh.issueKey();
    for (let count = 0; count < 600; count++) await fresh.fetch('/llms.txt');
    const accept = 'application/json, text/event-stream';
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const sent = { key, method: 'POST', headers: { accept }, body };
    const limited = await fresh.fetch('/v1/mcp', sent);
    assert.deepEqual([limited.status, Number(limited.headers.get('retry-after')) > 0], [429, true]);
    fresh.clock.advance(60);
    assert.equal((await fresh.fetch('/v1/mcp', sent)).status, 200);
    await fresh.close();
  });

  it('shares the 60 a minute of getUsage between all messages that call no operation', async () => {
    const key = await store.issueKey({ perMinute: 100, perDay: 100 });
    const send = (method: string, name?: string) =>
      post(key, { jsonrpc: '2.0', id: 1, method, params: { name, arguments: {} } });
    for (let count = 0; count < 20; count++) {
      assert.equal((await send('tools/list')).status, 200);
      assert.notEqual((await send('tools/call', 'unknown')).status, 429);
      assert.equal((await store.fetch('/v1/usage', { key })).status, 200);
    }
    for (const rejected of [await send('tools/list'), await send('tools/call', 'unknown')]) {
      assert.equal(rejected.status, 429);
      assert.equal(((await rejected.json()) as { code: string }).code, 'rate_limit_exceeded');
      assert.match(rejected.headers.get('retry-after')!, /^[1-9]\d*$/);
    }
    assert.match(await (await send('tools/call', 'listPets')).text(), /"isError":false/);
  });

  it('counts each message of a batch that calls no operation', async () => {
    const key = await store.issueKey({ perMinute: 100, perDay: 100 });
    const send = (count: number) => {
      const message = { jsonrpc: '2.0', method: 'tools/list' };
      return postBatch(
        key,
        Array.from({ length: count }, (_none, id) => ({ ...message, id })),
      );
    };
    assert.equal((await send(40)).status, 200);
    assert.equal((await send(40)).status, 429);
    assert.equal((await store.fetch('/v1/usage', { key })).status, 429);
  });

  it('rejects a batch that is too long, which counts once', async () => {
    const key = await store.issueKey();
    const calls = Array.from({ length: 101 }, (_none, id) => toolCall(id, 'listPets'));
    assert.equal((await postBatch(key, calls)).status, 400);
    assert.equal((await postBatch(key, calls.slice(1))).status, 200);
    assert.equal((await store.fetch('/v1/usage', { key })).status, 200);
  });

  it('returns the results of tools also if their batch exceeds the limit of getUsage', async () => {
    const key = await store.issueKey({ scopes: ['pets:write'] });
    const body = { name: 'Rex', categoryId: 7 };
    const unknown = Array.from({ length: 61 }, (_none, index) => toolCall(index + 2, 'unknown'));
    const answer = await postBatch(key, [toolCall(1, 'createPet', { body }), ...unknown]);
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /"isError":false/);
    assert.equal((await store.fetch('/v1/usage', { key })).status, 429);
  });

  it('responds to a batch that cancels its own requests', async () => {
    const key = await store.issueKey();
    const params = { requestId: 1 };
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    const answer = await postBatch(key, [toolCall(1, 'listPets'), cancelled]);
    assert.match(await answer.text(), /"isError":false/);
    for (const message of [cancelled, [cancelled]]) {
      const version = { 'mcp-protocol-version': '2025-11-25' };
      assert.equal((await post(key, message, version)).status, 202);
    }
  });

  it("calls operations from the caller's address, never from a forwarded text", async () => {
    const key = await store.issueKey({ scopes: ['pets:read'] });
    const call = toolCall(1, 'listPets', { limit: 1_000 });
    for (const forwarded of ['192.0.2.7', '192.0.2.8:1234', 'secret']) {
      await (await post(key, call, { 'x-forwarded-for': forwarded })).text();
    }
    let rejected: { address: string; count: number }[] = [];
    // They are written in the background.
    for (let count = 0; count < 3; await pause(100)) {
      // A new minute of requests to getUsageHistory.
      store.clock.advance(60);
      const history = await store.fetch('/v1/usage/history', { key });
      ({ rejected } = (await history.json()) as { rejected: typeof rejected });
      count = rejected.reduce((sum, group) => sum + group.count, 0);
    }
    assert.deepEqual(rejected.map(({ address }) => address).sort(), ['127.0.0.1', '192.0.2.7']);
  });

  it('rejects callers without a valid key, unknown tools and methods', async () => {
    await assert.rejects(connect('psk_unknown'), /401|invalid_api_key/);
    const client = await connect(await store.issueKey());
    await assert.rejects(client.callTool({ name: 'banKey' }), /banKey/);
    const key = await store.issueKey();
    assert.equal((await store.fetch('/v1/mcp', { key })).status, 405);
  });
});
