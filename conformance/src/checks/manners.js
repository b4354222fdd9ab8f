// Sections 2, 5 and 9 of the contract where order matters: pages, conditional requests, idempotency.
import { observer } from './from-data.js';

const INTERNALS =
  /SQLITE|SELECT |INSERT |TypeORM|FST_|node_modules|\bat [^\n]*:\d+:\d+|Traceback|panic:|Exception/;

/** @type {import('./from-data.js').Check[]} */
const errors = [
  observer({
    name: 'manners.errors.members',
    level: 'manners',
    sentence: 'An Error body has exactly code, message and status.',
    source: 'contract, section 2',
    samples: [{ path: '/pets/9223372036854775806' }],
    isSubject: ({ status, sent }) => status >= 400 && sent.method !== 'HEAD',
    faults: ({ json }) => {
      const names = Object.keys(json ?? {}).sort();
      return String(names) === 'code,message,status' ? [] : [`the members are ${names.join(', ')}`];
    },
  }),
  observer({
    name: 'manners.errors.no-internals',
    level: 'manners',
    sentence: 'An Error body contains no stack trace, no SQL and no text from a library.',
    source: 'contract, section 2',
    samples: [{ path: '/pets/9223372036854775806' }],
    isSubject: ({ status }) => status >= 400,
    faults: ({ text }) => (INTERNALS.test(text) ? ['the body shows the inside of the server'] : []),
  }),
];

/** @type {import('./from-data.js').Check[]} */
const pages = [
  {
    name: 'manners.list.link',
    level: 'manners',
    sentence:
      'If there are more pets, Link is an absolute address with the same filter and limit, and a cursor, and rel="next".',
    source: 'contract, section 5, listPets',
    rfc: 'RFC 8288 section 3',
    cost: { main: 3 },
    run: async (context) => {
      const list = await firstOfTwins(context);
      const next = list.link('next');
      if (!context.expect(next !== undefined, 'there is no Link with rel="next"', list)) return;
      if (!context.expect(URL.canParse(next), 'the address is not absolute', list)) return;
      const { searchParams } = new URL(next);
      const isSame =
        searchParams.get('limit') === '1' && searchParams.get('status') === 'available';
      context.expect(isSame, 'the link has another filter or limit', list);
      const names = [...searchParams.keys()].sort().join();
      context.expect(names === 'cursor,limit,status', `the link has ${names}`, list);
    },
  },
  observer({
    name: 'manners.list.order',
    level: 'manners',
    sentence: 'The order is id, ascending.',
    source: 'contract, section 5, listPets',
    samples: [{ path: '/pets?limit=50' }],
    isSubject: ({ status, pets: { length } }) => status === 200 && length > 1,
    faults: ({ pets: list }) =>
      list.every(({ id }, index) => index === 0 || id > list[index - 1].id)
        ? []
        : ['the ids do not ascend'],
  }),
  {
    name: 'manners.list.pages',
    level: 'manners',
    sentence:
      'Following the links returns every pet exactly once, regardless of concurrent inserts; the limit may change.',
    source: 'contract, section 5, listPets; section 9, item 9',
    cost: { main: 5 },
    run: async (context) => {
      const whole = await context.send('/pets?limit=9');
      const first = await context.send('/pets?limit=3');
      await context.create({ name: 'Between', categoryId: 7 });
      const second = await follow(context, first);
      const third = second && (await follow(context, second, 'limit=2'));
      if (third === undefined) return;
      const ids = [first, second, third].flatMap(({ pets }) => pets.map(({ id }) => id));
      const expected = whole.pets.slice(0, 8).map(({ id }) => id);
      const isSame = String(ids) === String(expected);
      context.expect(
        isSame,
        `the pages have ${ids}, one page has ${expected}`,
        first,
        second,
        third,
      );
    },
  },
  {
    name: 'manners.list.last-page',
    level: 'manners',
    sentence: 'The last page has no Link, and shows the pets that were created last.',
    source: 'contract, section 5, listPets',
    cost: { main: 7 },
    run: async (context) => {
      const created = await context.create({ name: 'Last', categoryId: 7, status: 'pending' });
      let page = await context.send('/pets?limit=100&status=pending');
      const seen = new Set();
      for (let count = 1; ; count++) {
        for (const { id } of page.pets) {
          context.expect(!seen.has(id), `the pet ${id} is on two pages`, page);
          seen.add(id);
        }
        if (page.link('next') === undefined) break;
        if (count === 6) context.skip('the list of pending pets has more than 600 pets');
        page = await follow(context, page);
        if (page === undefined) return;
      }
      context.expect(seen.has(created.json?.id), 'the newest pet is on no page', created, page);
    },
  },
  {
    name: 'manners.list.cursor-of-filter',
    level: 'manners',
    sentence: 'A cursor belongs to its filter: with another status it is 400.',
    source: 'contract, section 9, item 9',
    cost: { main: 4 },
    run: async (context) => {
      const next = (await firstOfTwins(context)).link('next');
      if (next === undefined) context.skip('the list has one page');
      const cursor = new URL(next, context.base).searchParams.get('cursor');
      const query = new URLSearchParams({ cursor: cursor ?? '', limit: '1', status: 'sold' });
      const other = await context.send(`/pets?${query}`);
      context.expectStatus(other, 400, 'invalid_request');
    },
  },
  {
    name: 'manners.create.location',
    level: 'manners',
    sentence: 'A 201 carries Location, the absolute address of the new pet.',
    source: 'contract, section 5, createPet',
    rfc: 'RFC 9110 section 10.2.2',
    cost: { main: 1 },
    run: async (context) => {
      const created = await context.pet();
      const location = created.header('location') ?? '';
      const isAbsolute = /^https?:\/\//.test(location);
      context.expect(isAbsolute, 'Location is no absolute address', created);
      const isRight = location.endsWith(`/pets/${created.json?.id}`);
      context.expect(isRight, 'Location is not the address of the pet', created);
    },
  },
  {
    name: 'manners.create.increasing-ids',
    level: 'manners',
    sentence: 'id is positive and strictly increasing.',
    source: 'contract, section 5, createPet',
    cost: { main: 2 },
    isObserver: true,
    run: async (context) => {
      await context.twins();
      const created = context.exchanges.filter(
        ({ status, sent }) => status === 201 && sent.target.endsWith('/pets'),
      );
      for (const [index, exchange] of created.entries()) {
        const { id } = exchange.json ?? {};
        context.expect(id > 0n, 'the id is not positive', exchange);
        const before = created[index - 1];
        if (before === undefined || before.receivedAt > exchange.sentAt) continue;
        if (before.text === exchange.text) continue;
        context.expect(id > before.json?.id, 'the id does not increase', before, exchange);
      }
    },
  },
  {
    name: 'manners.create.status-unset',
    level: 'manners',
    sentence:
      'Without a status, the pet has no member status, in every response, and no filter selects it.',
    source: 'contract, section 5, createPet',
    cost: { main: 2 },
    run: async (context) => {
      const created = await context.petWithoutStatus();
      context.expect(!('status' in (created.json ?? {})), 'the 201 has a status', created);
      const got = await context.send(`/pets/${created.json?.id}`);
      context.expect(!('status' in (got.json ?? {})), 'the pet has a status', got);
    },
  },
  {
    name: 'manners.int64.stored',
    level: 'manners',
    sentence: 'A pet is read with the same digits of categoryId as it was created.',
    source: 'contract, section 5, createPet',
    cost: { main: 2 },
    run: async (context) => {
      const body = '{"name":"Rex","categoryId":9007199254740993}';
      const created = await context.create(body);
      const got = await context.send(`/pets/${created.json?.id}`);
      const isExact = /"categoryId" *: *9007199254740993\b/.test(got.text);
      context.expect(isExact, 'categoryId is not 9007199254740993', created, got);
    },
  },
];

/** @type {import('./from-data.js').Check[]} */
const conditional = [
  {
    name: 'manners.conditional.etag',
    level: 'manners',
    sentence: 'A 200 of listPets and getPet carries a strong ETag.',
    source: 'contract, section 2',
    rfc: 'RFC 9110 section 8.8.3',
    cost: { main: 3 },
    run: async (context) => {
      const { list, pet } = await tagged(context);
      for (const exchange of [list, pet]) {
        const isStrong = /^"[\x21\x23-\x7e]+"$/.test(exchange.header('etag') ?? '');
        context.expect(isStrong, 'there is no strong ETag', exchange);
      }
    },
  },
  {
    name: 'manners.conditional.not-modified',
    level: 'manners',
    sentence:
      'If-None-Match with the tag, in a list, in its weak form, or *, is 304 without a body.',
    source: 'contract, section 2',
    rfc: 'RFC 9110 section 13.1.2',
    cost: { main: 7 },
    run: async (context) => {
      const { list, pet } = await tagged(context);
      const [tag, ofPet] = [list, pet].map((exchange) => exchange.header('etag'));
      if (tag === undefined || ofPet === undefined) context.skip('there is no ETag');
      for (const value of [tag, `"other", ${tag}`, `W/${tag}`]) {
        const again = await conditionally(context, list, value);
        context.expectStatus(again, 304);
        context.expect(again.text === '', 'the 304 has a body', again);
      }
      context.expectStatus(await conditionally(context, pet, ofPet), 304);
      context.expectStatus(await unmodified(context), 304);
    },
  },
  {
    name: 'manners.conditional.other-tag',
    level: 'manners',
    sentence: 'If-None-Match with another tag has no effect.',
    source: 'contract, section 2',
    rfc: 'RFC 9110 section 13.1.2',
    cost: { main: 4 },
    run: async (context) => {
      const { list } = await tagged(context);
      context.expectStatus(await conditionally(context, list, '"other"'), 200);
    },
  },
  {
    name: 'manners.conditional.headers-of-304',
    level: 'manners',
    sentence: 'A 304 has the headers of the 200 except the headers that describe its content.',
    source: 'contract, section 2',
    rfc: 'RFC 9110 section 15.4.5',
    cost: { main: 4 },
    run: async (context) => {
      const { list } = await tagged(context);
      const again = await unmodified(context);
      if (again.status !== 304) context.skip('there is no 304');
      for (const name of ['etag', 'cache-control', 'link']) {
        const isSame = again.header(name) === list.header(name);
        context.expect(isSame, `${name} differs from the 200`, list, again);
      }
      for (const name of ['content-length', 'content-type']) {
        context.expect(again.header(name) === undefined, `the 304 has ${name}`, again);
      }
    },
  },
  {
    name: 'manners.conditional.head',
    level: 'manners',
    sentence: 'HEAD has the headers of GET, without a body, and is 304 like GET.',
    source: 'contract, sections 2 and 5',
    rfc: 'RFC 9110 section 9.3.2',
    cost: { main: 5 },
    run: async (context) => {
      const { pet } = await tagged(context);
      const path = pathOf(context, pet);
      const head = await context.send(path, { method: 'HEAD' });
      context.expectStatus(head, 200);
      for (const name of ['etag', 'cache-control', 'content-type', 'content-length']) {
        const isSame = head.header(name) === pet.header(name);
        context.expect(isSame, `${name} of HEAD differs from GET`, pet, head);
      }
      const headers = { 'if-none-match': '*' };
      context.expectStatus(await context.send(path, { method: 'HEAD', headers }), 304);
    },
  },
  {
    name: 'manners.conditional.covers-link',
    level: 'manners',
    sentence: 'The tag covers the body and Link: a page that gets a successor gets another tag.',
    source: 'contract, section 2',
    rfc: 'RFC 9110 section 8.8.1',
    cost: { main: 10 },
    run: async (context) => {
      // The last page, exactly full, before and after another pet is created.
      let page = await context.send('/pets?limit=100&status=sold');
      for (let count = 1; page?.link('next') !== undefined; count++) {
        if (count === 5) context.skip('the list of sold pets has more than 500 pets');
        page = await follow(context, page);
      }
      if (page === undefined) return;
      if (page.pets.length === 0) {
        await context.create({ name: 'Sold', categoryId: 7, status: 'sold' });
        page = await context.send(pathOf(context, page));
      }
      const query = new URL(page.sent.target, context.base).searchParams;
      query.set('limit', String(page.pets.length));
      const full = await context.send(`/pets?${query}`);
      await context.create({ name: 'Next', categoryId: 7, status: 'sold' });
      const longer = await context.send(`/pets?${query}`);
      if (full.text !== longer.text || longer.link('next') === undefined) {
        context.skip('the page did not get a successor');
      }
      const isOther = full.header('etag') !== longer.header('etag');
      context.expect(isOther, 'the tag stays when the page gets a Link', full, longer);
    },
  },
];

/** @type {import('./from-data.js').Check[]} */
const idempotency = [
  {
    name: 'manners.idempotency.replay',
    level: 'manners',
    sentence:
      'A repeat with the same Idempotency-Key and body returns the first response with Idempotent-Replayed: true.',
    source: 'contract, section 5, createPet',
    rfc: 'draft-ietf-httpapi-idempotency-key-header',
    cost: { main: 2 },
    run: async (context) => {
      const { first, second } = await repeated(context);
      context.expectCreated(first);
      context.expectCreated(second);
      context.expect(first.text === second.text, 'the repeat has another body', first, second);
      const isSame = first.header('location') === second.header('location');
      context.expect(isSame, 'the repeat has another Location', first, second);
      const isFirst = first.header('idempotent-replayed') === undefined;
      context.expect(isFirst, 'the first response has Idempotent-Replayed', first);
    },
  },
  {
    name: 'manners.idempotency.replayed-header',
    level: 'manners',
    sentence: 'A repeated response carries Idempotent-Replayed: true.',
    source: 'contract, section 5, createPet',
    cost: { main: 2 },
    run: async (context) => {
      const { first, second } = await repeated(context);
      if (first.text !== second.text) context.skip('the repeat is not the first response');
      const isMarked = second.header('idempotent-replayed') === 'true';
      context.expect(isMarked, 'Idempotent-Replayed is not true', second);
    },
  },
  {
    name: 'manners.idempotency.other-body',
    level: 'manners',
    sentence: 'The same Idempotency-Key with another body is 422 idempotency_key_reused.',
    source: 'contract, section 5, createPet',
    cost: { main: 3 },
    run: async (context) => {
      const { key } = await repeated(context);
      const other = await context.create(
        { name: 'Rex', categoryId: 8 },
        { headers: { 'idempotency-key': key } },
      );
      context.expectStatus(other, 422, 'idempotency_key_reused');
    },
  },
];

/** The list and the pet whose tags are compared. */
function tagged(context) {
  return context.once('tagged', async () => {
    const created = await context.pet();
    const list = await context.send('/pets?limit=2');
    return { list, pet: await context.send(`/pets/${created.json.id}`) };
  });
}

/** The 304 of the list. */
function unmodified(context) {
  return context.once('unmodified', async () =>
    conditionally(context, (await tagged(context)).list, '*'),
  );
}

/** A list of one available pet, of at least two. */
function firstOfTwins(context) {
  return context.once('firstOfTwins', async () => {
    await context.twins();
    return context.send('/pets?limit=1&status=available');
  });
}

function conditionally(context, exchange, tag) {
  return context.send(pathOf(context, exchange), { headers: { 'if-none-match': tag } });
}

function repeated(context) {
  return context.once('repeated', async () => {
    const key = context.unique('repeat');
    const headers = { 'idempotency-key': key };
    const first = await context.create({ name: 'Rex', categoryId: 7 }, { headers });
    const second = await context.create({ name: 'Rex', categoryId: 7 }, { headers });
    return { key, first, second };
  });
}

/** The path of an earlier request, below the base address. */
function pathOf({ base }, { sent }) {
  return sent.target.slice(base.pathname.length);
}

/** The page behind `Link`, at the address under test. @returns undefined if there is none */
export async function follow(context, page, replacement) {
  const next = page.link('next');
  if (!context.expect(next !== undefined, 'there is no Link with rel="next"', page)) return;
  let { search } = new URL(next, context.base);
  if (replacement !== undefined) search = search.replace(/limit=\d+/, replacement);
  const followed = await context.send(`/pets${search}`);
  return context.expectStatus(followed, 200) ? followed : undefined;
}

export const mannersChecks = [...errors, ...pages, ...conditional, ...idempotency];
