// scripts/client-on-nodes.mjs runs this program on each version of Node.
import assert from 'node:assert/strict';
import {
  NotFoundError,
  PetStoreClient,
  PetStoreConnectionError,
  toJSON,
} from '../../clients/typescript/dist/index.js';

const { PETSTORE_URL: baseUrl } = process.env;
const reported = [];
let broken = 0;
const store = new PetStoreClient({
  baseUrl,
  onDeprecation: ({ operation }) => reported.push(operation),
  // The response to the first create is lost.
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    if (init.method !== 'POST' || broken++ > 0) return response;
    throw new TypeError('fetch failed');
  },
});
const INT64_MAX = 9223372036854775807n;

const { data: pet, response } = await store
  .createPet({ name: 'Rex', categoryId: INT64_MAX, status: 'sold' })
  .withResponse();
assert.equal(pet.categoryId, INT64_MAX);
assert.equal(response.headers.get('idempotent-replayed'), 'true');
await store.createPet({ name: 'Leo', categoryId: 7n, status: 'sold' });

let found = 0;
for await (const { id } of store.listPets({ status: 'sold', pageSize: 1 }))
  if (id === pet.id) found++;
assert.equal(found, 1);
assert.deepEqual(await store.getPet(pet.id), pet);
assert.ok(toJSON(pet).includes(`"categoryId":${INT64_MAX}`));
assert.equal(JSON.parse(JSON.stringify(pet)).categoryId, String(INT64_MAX));
await store.getPet(pet.id);
assert.deepEqual(reported, ['getPet']);
await assert.rejects(store.getPet(4711n), (error) => {
  return error instanceof NotFoundError && error.code === 'pet_not_found';
});
await assert.rejects(store.getPet(1n, { signal: AbortSignal.abort('enough') }), (reason) => {
  return reason === 'enough';
});
const nowhere = new PetStoreClient({ baseUrl: 'http://127.0.0.1:1/v1', maxRetries: 0 });
await assert.rejects(nowhere.getUsage(), PetStoreConnectionError);
const { plan, limits } = await store.getUsage();
assert.equal(plan, 'pro');
assert.equal(limits.minute.remaining, store.rateLimit.minute.remaining);
console.log(`Node ${process.versions.node}: works`);
