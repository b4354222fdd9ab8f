// What scripts/client-on-nodes.mjs runs on each version of Node: the built client against a real service.
import assert from 'node:assert/strict';
import {
  PetStoreClient,
  PetStoreConnectionError,
  PetStoreError,
} from '../../clients/typescript/dist/index.js';

const { PETSTORE_URL: baseUrl, PETSTORE_KEY: apiKey } = process.env;
const told = [];
let broken = 0;
const store = new PetStoreClient({
  baseUrl,
  apiKey,
  onDeprecation: ({ operation }) => told.push(operation),
  // The first create loses its answer on the way.
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
await store.getPet(pet.id);
assert.deepEqual(told, ['getPet']);
await assert.rejects(store.getPet(4711n), (error) => {
  return error instanceof PetStoreError && error.code === 'pet_not_found';
});
await assert.rejects(store.getPet(1n, { signal: AbortSignal.abort('enough') }), (reason) => {
  return reason === 'enough';
});
const nowhere = new PetStoreClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey, maxRetries: 0 });
await assert.rejects(nowhere.getUsage(), PetStoreConnectionError);
const { plan, limits } = await store.getUsage();
assert.equal(plan, 'pro');
assert.equal(limits.minute.remaining, store.rateLimit.minute.remaining);
console.log(`Node ${process.versions.node}: works`);
