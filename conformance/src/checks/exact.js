// Concurrency, on one node and on several.
import { follow } from './manners.js';

const CREATES = 30;
const REPEATS = 20;
/** Requests over what is left; fewer than a ban takes. */
const OVER = 15;

/** @type {import('./from-data.js').Check[]} */
const concurrency = [
  {
    name: 'exact.create.distinct',
    level: 'exact',
    sentence: 'Simultaneous creates are all acknowledged, each with its own id.',
    source: 'contract, section 5, createPet',
    cost: { main: CREATES },
    run: async (context) => {
      const created = await burst(context);
      const failed = created.filter(({ status }) => ![200, 201].includes(status));
      context.expect(failed.length === 0, `${failed.length} creates failed`, ...failed.slice(0, 2));
      const ids = new Set(created.map(({ json }) => json?.id));
      context.expect(ids.size === CREATES, `${CREATES} creates have ${ids.size} ids`);
    },
  },
  {
    name: 'exact.requests.share-nothing',
    level: 'exact',
    sentence: 'Two requests never share anything: each response belongs to its request.',
    source: 'contract, section 2',
    cost: { main: CREATES },
    run: async (context) => {
      for (const exchange of await burst(context)) {
        const isOwn = exchange.header('x-request-id') === exchange.sent.headers['x-request-id'];
        context.expect(isOwn, 'the response has the X-Request-Id of another request', exchange);
        const isNamed = exchange.json?.name === JSON.parse(exchange.sent.body).name;
        context.expect(isNamed, 'the response has the pet of another request', exchange);
      }
    },
  },
  {
    name: 'exact.idempotency.one-pet',
    level: 'exact',
    sentence:
      'Simultaneous creates with one Idempotency-Key create one pet; the others are 409 idempotency_key_in_use or the first response.',
    source: 'contract, section 5, createPet',
    cost: { main: REPEATS },
    run: async (context) => {
      const headers = { 'idempotency-key': context.unique('simultaneous') };
      const pet = { name: 'Once', categoryId: 7 };
      const exchanges = await simultaneous(REPEATS, (index) =>
        context.create(pet, { headers, base: nodeOf(context, index), wide: true }),
      );
      for (const exchange of exchanges) {
        if (exchange.status > 201) context.expectStatus(exchange, 409, 'idempotency_key_in_use');
      }
      const created = exchanges.filter(({ status }) => status <= 201);
      const ids = new Set(created.map(({ json }) => json?.id));
      context.expect(ids.size === 1, `${ids.size} pets were created`, ...created.slice(0, 2));
      const firsts = created.filter((each) => each.header('idempotent-replayed') === undefined);
      context.expect(firsts.length === 1, `${firsts.length} responses are no repeat`);
    },
  },
  {
    name: 'exact.quota.admitted',
    level: 'exact',
    sentence:
      'Of any number of simultaneous requests in one window, exactly the limit is admitted, on one node and across all nodes.',
    source: 'contract, section 4',
    needs: ['small'],
    cost: { small: 5 },
    run: async (context) => {
      const ask = (index) =>
        context.send('/pets?limit=1', {
          key: 'small',
          allows429: true,
          wide: true,
          base: nodeOf(context, index),
        });
      const first = await ask(0);
      const { left, resetAt } = context.budgets.get('small') ?? {};
      if (left === undefined || left > 100) context.skip('the limit is unknown or over 100');
      if (resetAt - context.now() < 3_000) context.skip('the window is about to end');
      const exchanges = await simultaneous(left + OVER, ask);
      const admitted = exchanges.filter(({ status }) => status === 200).length;
      context.expect(admitted === left, `${admitted} were admitted, ${left} were left`, first);
    },
  },
];

/** @type {import('./from-data.js').Check[]} */
const nodes = [
  {
    name: 'exact.nodes.read',
    level: 'exact',
    sentence: 'Nodes are stateless: what one node created, another returns.',
    source: 'contract, section 8',
    needs: ['node'],
    cost: { main: 4 },
    run: async (context) => {
      const created = await context.create({ name: 'Here', categoryId: 7 });
      for (const base of context.nodes) {
        const got = await context.send(`/pets/${created.json?.id}`, { base });
        context.expectStatus(got, 200);
      }
    },
  },
  {
    name: 'exact.nodes.idempotency',
    level: 'exact',
    sentence: 'A repeat at another node returns the first response.',
    source: 'contract, section 5, createPet',
    needs: ['node'],
    cost: { main: 4 },
    run: async (context) => {
      const headers = { 'idempotency-key': context.unique('nodes') };
      const pet = { name: 'Once', categoryId: 7 };
      const first = await context.create(pet, { headers });
      for (const base of context.nodes) {
        const again = await context.create(pet, { headers, base });
        context.expect(again.text === first.text, 'the repeat has another body', first, again);
      }
    },
  },
  {
    name: 'exact.nodes.cursor',
    level: 'exact',
    sentence: 'A cursor of one node is valid at another.',
    source: 'contract, section 5, listPets',
    needs: ['node'],
    cost: { main: 4 },
    run: async (context) => {
      const page = await context.send('/pets?limit=1');
      if (page.link('next') === undefined) context.skip('the list has one page');
      const here = await follow(context, page);
      for (const base of context.nodes) {
        const path = here?.sent.target.slice(context.base.pathname.length) ?? '/pets';
        const there = await context.send(path, { base });
        context.expect(there.text === here?.text, 'the page differs', there);
      }
    },
  },
  {
    name: 'exact.nodes.quota',
    level: 'exact',
    sentence: 'All nodes count the requests of a key together.',
    source: 'contract, section 4',
    needs: ['node'],
    cost: { main: 4 },
    run: async (context) => {
      let before = await context.send('/pets?limit=1');
      for (const base of context.nodes) {
        const after = await context.send('/pets?limit=1', { base });
        const [one, other] = [before, after].map((exchange) => exchange.windows.day);
        if (one === undefined || other === undefined) context.skip('there is no RateLimit field');
        const isCounted = one.left - other.left === 1 || other.seconds > one.seconds;
        context.expect(isCounted, 'the nodes count apart', before, after);
        before = after;
      }
    },
  },
];

/** Simultaneous creates, each with its own X-Request-Id and name. */
function burst(context) {
  return context.once('burst', () =>
    simultaneous(CREATES, (index) =>
      context.create(
        { name: `Burst ${index}`, categoryId: index },
        {
          headers: { 'x-request-id': context.unique(`burst-${index}`) },
          base: nodeOf(context, index),
          wide: true,
        },
      ),
    ),
  );
}

function simultaneous(count, send) {
  return Promise.all(Array.from({ length: count }, (_, index) => send(index)));
}

function nodeOf({ nodes: all }, index) {
  return all[index % all.length];
}

export const exactChecks = [...concurrency, ...nodes];
