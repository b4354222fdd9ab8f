import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startTestStore, type TestStore } from 'pet-store-service/testing';
import { DataSource } from 'typeorm';
import { petPhotos } from '../src/index.js';

interface PhotoAnswer {
  id: number;
  type: string;
  width: number;
}

const { TEST_DATABASE_URL } = process.env;
const MIB = 1_048_576;

/** The first bytes of a PNG, and any others up to a size. */
function png(size = 64, width = 20, height = 10): Buffer {
  const start = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const sides = Buffer.alloc(8);
  sides.writeUInt32BE(width, 0);
  sides.writeUInt32BE(height, 4);
  const head = Buffer.concat([start, sides]);
  return Buffer.concat([head, Buffer.alloc(size - head.length, 7)]);
}

/** The first segments of a JPEG: one of an application, a table, and the frame. */
const JPEG = Buffer.from('ffd8ffe00004abcdffc40003aaffc2000b080020004001012200', 'hex');

describe('photos of pets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'photos-'));
  let store: TestStore;
  let key: string;
  before(async () => {
    store = await startTestStore({
      extensions: [petPhotos],
      env: { PHOTOS_FOLDER: folder, PHOTOS_PER_PET: '3' },
      ...(TEST_DATABASE_URL !== undefined && { databaseUrl: TEST_DATABASE_URL }),
    });
    key = await store.issueKey({
      scopes: ['photos:read', 'photos:write', 'pets:read', 'pets:write'],
    });
  });
  after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  async function newPet(): Promise<number> {
    const body = JSON.stringify({ name: 'Rex', categoryId: 7 });
    const answer = await store.fetch('/v1/pets', { key, method: 'POST', body });
    return ((await answer.json()) as { id: number }).id;
  }

  const upload = (
    petId: number,
    content: Buffer,
    headers: Record<string, string> = {},
    as: string | undefined = key,
  ) =>
    store.fetch(`/v1/pets/${petId}/photos`, {
      ...(as !== '' && { key: as }),
      method: 'POST',
      headers: { 'content-type': 'image/png', ...headers },
      body: new Uint8Array(content),
    });

  const get = (path: string, headers: Record<string, string> = {}) =>
    store.fetch(path, { key, headers });

  async function expectError(answer: Response, status: number, code: string): Promise<void> {
    const body = (await answer.json()) as { code: string };
    assert.deepEqual([answer.status, body.code], [status, code]);
  }

  const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
  const pathOf = (answer: Response) => new URL(answer.headers.get('location')!).pathname;

  it('are stored, listed, served byte by byte, and removed', async () => {
    const petId = await newPet();
    const content = png(2 * MIB);
    const added = await upload(petId, content);
    assert.equal(added.status, 201);
    const photo = (await added.json()) as PhotoAnswer;
    assert.deepEqual(photo, {
      id: photo.id,
      petId,
      type: 'image/png',
      bytes: 2 * MIB,
      width: 20,
      height: 10,
      addedAt: new Date(store.clock.now()).toISOString(),
    });
    assert.deepEqual(await (await get(`/v1/pets/${petId}/photos`)).json(), [photo]);

    const served = await get(pathOf(added));
    assert.equal(served.status, 200);
    assert.equal(served.headers.get('content-type'), 'image/png');
    assert.equal(served.headers.get('content-length'), String(2 * MIB));
    assert.ok((await bytesOf(served)).equals(content));

    const files = readdirSync(folder).length;
    const remove = () => store.fetch(pathOf(added), { key, method: 'DELETE' });
    const removed = await Promise.all([remove(), remove(), remove()]);
    assert.deepEqual(removed.map(({ status }) => status).sort(), [204, 404, 404]);
    await expectError(await get(pathOf(added)), 404, 'photo_not_found');
    // The file is removed after the commit.
    while (readdirSync(folder).length === files) await new Promise((next) => setImmediate(next));
  });

  it('keep their file if the response to the commit of their row is lost', async () => {
    const petId = await newPet();
    const dataSource = store.get(DataSource);
    const transaction = dataSource.transaction.bind(dataSource);
    dataSource.transaction = async (...args: unknown[]) => {
      await transaction(...(args as Parameters<typeof transaction>));
      throw new Error('Connection terminated unexpectedly');
    };
    const added = await upload(petId, JPEG);
    dataSource.transaction = transaction;
    assert.equal(added.status, 503);
    const photos = await (await get(`/v1/pets/${petId}/photos`)).json();
    const [{ id }] = photos as [PhotoAnswer];
    const served = await get(`/v1/pets/${petId}/photos/${id}`);
    assert.ok((await bytesOf(served)).equals(JPEG));
  });

  it('do not exist once their file is removed, also while their row is still read', async () => {
    const before = new Set(readdirSync(folder));
    const added = await upload(await newPet(), JPEG);
    const [file] = readdirSync(folder).filter((name) => !before.has(name));
    rmSync(join(folder, file!));
    await expectError(await get(pathOf(added)), 404, 'photo_not_found');
  });

  it('have the type that their content has', async () => {
    const added = await upload(await newPet(), JPEG);
    const { type, width } = (await added.json()) as PhotoAnswer;
    assert.deepEqual([type, width], ['image/jpeg', 64]);
    assert.equal((await get(pathOf(added))).headers.get('content-type'), 'image/jpeg');
  });

  it('are not sent again to a client that has them', async () => {
    const path = pathOf(await upload(await newPet(), png()));
    const { headers } = await get(path);
    const tag = headers.get('etag')!;
    assert.match(tag, /^"[\w-]{43}"$/);
    for (const header of [tag, `"x", W/${tag}`, '*']) {
      const answer = await get(path, { 'if-none-match': header });
      assert.deepEqual([answer.status, await answer.text()], [304, '']);
      for (const name of ['etag', 'cache-control']) {
        assert.equal(answer.headers.get(name), headers.get(name));
      }
    }
    assert.equal((await get(path, { 'if-none-match': '"x"' })).status, 200);
  });

  it('are served in parts', async () => {
    const content = png(100);
    const path = pathOf(await upload(await newPet(), content));
    const part = async (range: string, more: Record<string, string> = {}) => {
      const answer = await get(path, { range, ...more });
      const bytes = await bytesOf(answer);
      return [answer.status, answer.headers.get('content-range'), bytes.toString('hex')];
    };
    const hex = (start: number, end?: number) => content.toString('hex', start, end);
    assert.deepEqual(await part('bytes=0-15'), [206, 'bytes 0-15/100', hex(0, 16)]);
    assert.deepEqual(await part('bytes=90-'), [206, 'bytes 90-99/100', hex(90)]);
    assert.deepEqual(await part('bytes=90-500'), [206, 'bytes 90-99/100', hex(90)]);
    assert.deepEqual(await part('bytes=-10'), [206, 'bytes 90-99/100', hex(90)]);
    const whole = [200, null, hex(0)];
    assert.deepEqual(await part('bytes=5-3'), whole);
    assert.deepEqual(await part('bytes=0-1,4-5'), whole);
    assert.deepEqual(await part('bytes=0-1', { 'if-range': '"another"' }), whole);
    const beyond = await get(path, { range: 'bytes=100-' });
    assert.equal(beyond.headers.get('content-range'), 'bytes */100');
    await expectError(beyond, 416, 'range_not_satisfiable');
    const head = await store.fetch(path, { key, method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, '100']);
  });

  it('are no other content', async () => {
    const petId = await newPet();
    const files = readdirSync(folder).length;
    for (const content of [Buffer.alloc(0), Buffer.from('GIF89a'), png().subarray(0, 20)]) {
      await expectError(await upload(petId, content), 422, 'not_a_photo');
    }
    await expectError(await upload(petId, png(64, 8_193)), 422, 'not_a_photo');
    await expectError(await upload(petId, png(64, 20, 0)), 422, 'not_a_photo');
    await expectError(await upload(petId, JPEG.subarray(0, 12)), 422, 'not_a_photo');
    const gif = await upload(petId, png(), { 'content-type': 'image/gif' });
    await expectError(gif, 415, 'unsupported_media_type');
    await expectError(await upload(petId, png(4 * MIB + 1)), 413, 'payload_too_large');
    await expectError(await upload(9_007_199_254_740_000, png()), 404, 'pet_not_found');
    await expectError(await get('/v1/pets/9007199254740000/photos'), 404, 'pet_not_found');
    assert.equal(readdirSync(folder).length, files);
  });

  it('are stored once for repeats with one Idempotency-Key', async () => {
    const petId = await newPet();
    const files = readdirSync(folder).length;
    const header = { 'idempotency-key': `photo-of-${petId}` };
    const first = await upload(petId, png(), header);
    const again = await upload(petId, png(), header);
    assert.deepEqual([again.status, await again.text()], [201, await first.text()]);
    assert.equal(again.headers.get('location'), first.headers.get('location'));
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    await expectError(await upload(petId, png(65), header), 422, 'idempotency_key_reused');
    assert.equal(readdirSync(folder).length, files + 1);
  });

  it('are at most PHOTOS_PER_PET, also if they arrive at the same time', async () => {
    const petId = await newPet();
    const files = readdirSync(folder).length;
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(petId, png())));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array<number>(3).fill(201), ...Array<number>(5).fill(409)]);
    assert.equal(readdirSync(folder).length, files + 3);
  });

  it('need a key, a scope and quota before anything about the body is checked', async () => {
    const petId = await newPet();
    const text = { 'content-type': 'text/plain' };
    const send = (as: string) => upload(petId, Buffer.alloc(MIB), text, as);
    await expectError(await send(''), 401, 'missing_api_key');
    const reader = await store.issueKey({ scopes: ['photos:read'] });
    await expectError(await send(reader), 403, 'insufficient_scope');
    const poor = await store.issueKey({ scopes: ['photos:write'], perMinute: 1, perDay: 10 });
    await expectError(await send(poor), 415, 'unsupported_media_type');
    await expectError(await send(poor), 429, 'rate_limit_exceeded');
  });
});
