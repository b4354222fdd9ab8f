// The specification alone, where order matters: what was created is what is returned.
import { faultOfPet, STATUSES } from '../expectations.js';

const FULL_PAGE = 20;

/** @type {import('./from-data.js').Check[]} */
export const coreChecks = [
  {
    name: 'core.create.returns-pet',
    level: 'core',
    sentence: 'A created pet is 201 with the members that were sent, and an id.',
    source: 'specification, POST /pets',
    cost: { main: 1 },
    run: async (context) => {
      const created = await context.firstCreate();
      context.expectStatus(created, 201);
      context.expect(faultOfPet(created.json) === undefined, faultOfPet(created.json), created);
      const { name, categoryId, status } = created.json ?? {};
      const isSame = name === 'Rex' && categoryId === 7n && status === 'available';
      context.expect(isSame, 'the members differ from what was sent', created);
    },
  },
  {
    name: 'core.create.status-values',
    level: 'core',
    sentence: 'status may be each of available, pending and sold, and may be omitted.',
    source: 'specification, NewPet',
    cost: { main: 3 },
    run: async (context) => {
      for (const status of ['pending', 'sold']) {
        const created = await context.firstCreate(status);
        context.expectCreated(created);
        const actual = created.json?.status;
        context.expect(actual === status, `the status is ${String(actual)}`, created);
      }
      context.expectCreated(await context.petWithoutStatus());
    },
  },
  {
    name: 'core.create.unique-ids',
    level: 'core',
    sentence: 'id is a unique identifier, assigned on creation.',
    source: 'specification, Pet',
    cost: { main: 2 },
    run: async (context) => {
      const [first, second] = await context.twins();
      const isUnique = first.json?.id !== second.json?.id;
      context.expect(isUnique, 'two pets have the same id', first, second);
    },
  },
  {
    name: 'core.get.returns-pet',
    level: 'core',
    sentence: 'A pet is returned by its id, as it was created.',
    source: 'specification, GET /pets/{petId}',
    cost: { main: 2 },
    run: async (context) => {
      const created = await context.pet();
      const got = await context.send(`/pets/${created.json.id}`);
      if (!context.expectStatus(got, 200)) return;
      for (const member of ['id', 'name', 'categoryId', 'status']) {
        const isSame = got.json?.[member] === created.json[member];
        context.expect(isSame, `${member} differs from the created pet`, created, got);
      }
    },
  },
  {
    name: 'core.list.is-array',
    level: 'core',
    sentence: 'The list is a bare array of pets.',
    source: 'specification, GET /pets',
    cost: { main: FULL_PAGE + 3 },
    run: async (context) => {
      const list = await defaultList(context);
      context.expectStatus(list, 200);
      context.expect(Array.isArray(list.json), 'the body is no array', list);
      const fault = list.pets.map(faultOfPet).find(Boolean);
      context.expect(fault === undefined, fault, list);
    },
  },
  {
    name: 'core.list.default-limit',
    level: 'core',
    sentence: 'Without limit, the list has 20 pets.',
    source: 'specification, Page size',
    cost: { main: FULL_PAGE + 3 },
    run: async (context) => {
      const list = await defaultList(context);
      if (!Array.isArray(list.json)) context.skip('the list is no array');
      const count = list.pets.length;
      context.expect(count === FULL_PAGE, `the list has ${count} pets, not ${FULL_PAGE}`, list);
    },
  },
  {
    name: 'core.list.limit',
    level: 'core',
    sentence: 'The list has at most limit pets, and limit may be 100.',
    source: 'specification, Page size',
    cost: { main: FULL_PAGE + 4 },
    run: async (context) => {
      await context.fill();
      const list = await context.send('/pets?limit=7');
      context.expectStatus(list, 200);
      if (!Array.isArray(list.json)) context.skip('the list is no array');
      context.expect(list.pets.length === 7, `limit=7 returns ${list.pets.length} pets`, list);
      const longest = await context.send('/pets?limit=100');
      context.expectStatus(longest, 200);
      const count = longest.pets.length;
      const isRight = count > FULL_PAGE && count <= 100;
      context.expect(isRight, `limit=100 returns ${count} pets`, longest);
    },
  },
  {
    name: 'core.list.status-filter',
    level: 'core',
    sentence: 'The status filter selects the pets with this status.',
    source: 'specification, GET /pets',
    cost: { main: 7 },
    run: async (context) => {
      for (const status of STATUSES) await context.pet(status);
      const one = await context.send('/pets?status=sold&limit=1');
      const isOne = one.pets.length === 1 && one.pets[0].status === 'sold';
      context.expect(isOne, 'limit=1 does not return one of the selected pets', one);
      for (const status of STATUSES) {
        const known = await context.pet(status);
        const list = await context.send(`/pets?status=${status}&limit=100`);
        context.expectStatus(list, 200);
        if (!Array.isArray(list.json)) context.skip('the list is no array');
        const others = list.pets.filter((pet) => pet.status !== status);
        context.expect(others.length === 0, `other pets than ${status} are selected`, list);
        // A longer list has more than one page, and the specification does not order it.
        if (list.pets.length >= 100) continue;
        const isThere = list.pets.some(({ id }) => id === known.json.id);
        context.expect(isThere, `a pet with the status ${status} is not selected`, known, list);
      }
    },
  },
  {
    name: 'core.rate-limit.values',
    level: 'core',
    sentence:
      'X-RateLimit-Remaining is at most X-RateLimit-Limit; X-RateLimit-Reset is a Unix time at which a window of a minute or a day resets.',
    source: 'specification, Rate limit headers',
    cost: { main: 1 },
    run: async (context) => {
      const exchange = await context.send('/pets?limit=1');
      const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
        Number(exchange.values(`x-ratelimit-${name}`)[0]),
      );
      context.expect(remaining <= limit, 'more requests remain than the limit', exchange);
      const now = serverTime(exchange);
      const isTime = reset >= now - 1 && reset <= now + 86_401;
      context.expect(isTime, 'X-RateLimit-Reset is no Unix time within a day', exchange);
    },
  },
];

/** The list without parameters, once there are enough pets. */
function defaultList(context) {
  return context.once('defaultList', async () => {
    await context.fill();
    return context.send('/pets');
  });
}

/** The server's time in Unix seconds. */
export function serverTime(exchange) {
  const date = Date.parse(exchange.header('date') ?? '');
  return (Number.isNaN(date) ? exchange.receivedAt : date) / 1000;
}
