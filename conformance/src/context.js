import { randomBytes } from 'node:crypto';

/** The default page of listPets has so many pets. */
const FULL_PAGE = 20;
/** Never more pets than this are created. */
const MOST_PETS = 200;

/** Thrown to end a check that cannot be run; it counts as skipped. */
export class Skipped extends Error {}

/** Thrown when a key has no requests left. The runner repeats the check in the next window. */
export class OutOfQuota extends Error {
  /** @param {import('./exchange.js').Exchange} exchange the unexpected 429 */
  constructor(exchange) {
    super('unexpected 429');
    this.exchange = exchange;
  }
}

/**
 * How many requests a key has left, as its latest response says. Unknown means unlimited.
 * @typedef {{left: number, resetAt: number, isDay: boolean}} Budget
 */

/** What a check works with: requests, expectations, and what earlier checks have found out. */
export class Context {
  /**
   * @param {{base: URL, nodes: URL[], proxy?: URL, keys: Record<string, string | undefined>,
   *   http: import('./http.js').Http, now: () => number, sleep: (ms: number) => Promise<void>}} o
   *   `nodes`: the base addresses of all nodes, the first one included
   */
  constructor({ base, nodes, proxy, keys, http, now, sleep }) {
    Object.assign(this, { base, nodes, proxy, keys, http, now, sleep });
    /** @type {Map<string, Budget>} */
    this.budgets = new Map();
    /** @type {import('./exchange.js').Exchange[]} */
    this.exchanges = [];
    this.requests = 0;
    this.petsCreated = 0;
    this.memory = new Map();
    this.begin();
  }

  /** Forgets the faults and exchanges of the previous check. */
  begin() {
    this.faults = [];
    this.checkExchanges = [];
    this.sentBy = {};
  }

  /**
   * Sends a request.
   * @param {string} path below the base address, with its query
   * @param {{method?: string, headers?: Record<string, string | string[]>, body?: string | Buffer,
   *   key?: string, base?: URL, allows429?: boolean, wide?: boolean, isObserved?: boolean}} options
   *   `key`: `main` (default), `small`, `read`, `spare`, `none`, or a key itself; `isObserved:
   *   false`: not an example of a response of the API, as section 9, item 3 allows
   */
  async send(path, options = {}) {
    const { method = 'GET', headers = {}, body, key = 'main', base = this.base } = options;
    const bearer = key in this.keys ? this.keys[key] : key;
    const all = {
      ...(key !== 'none' && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    for (const name of Object.keys(all)) if (all[name] === null) delete all[name];
    const sent = { method, target: base.pathname + path, headers: all, body };
    this.requests++;
    const exchange = await this.http.send(base, sent, { key, wide: options.wide });
    this.checkExchanges.push(exchange);
    if (options.isObserved !== false) this.exchanges.push(exchange);
    const counted = exchange.status === 401 || !(key in this.keys) ? 'none' : key;
    this.sentBy[counted] = (this.sentBy[counted] ?? 0) + 1;
    this.note(exchange, counted);
    const isPet = path === '/pets' && [200, 201].includes(exchange.status);
    if (isPet && method === 'POST') this.petsCreated++;
    if (exchange.status === 429 && options.allows429 !== true) throw new OutOfQuota(exchange);
    return exchange;
  }

  /** Creates a pet. @param {object | string} pet as JSON, or the text of the body */
  create(pet, options = {}) {
    if (this.petsCreated >= MOST_PETS) throw new Skipped(`${MOST_PETS} pets were created`);
    const body = typeof pet === 'string' ? pet : JSON.stringify(pet);
    return this.send('/pets', { method: 'POST', body, ...options });
  }

  /** Learns from a response how many requests its key has left. */
  note(exchange, key) {
    const windows = Object.entries(exchange.windows).map(([name, { left, seconds }]) => ({
      left,
      resetAt: exchange.receivedAt + seconds * 1000,
      isDay: name === 'day',
    }));
    const left = Number(exchange.header('x-ratelimit-remaining') ?? NaN);
    const date = Date.parse(exchange.header('date') ?? '');
    const reset = Number(exchange.header('x-ratelimit-reset')) * 1000;
    const serverNow = Number.isNaN(date) ? exchange.receivedAt : date;
    if (windows.length === 0 && !Number.isNaN(left) && reset > 0) {
      const after = Math.max(0, reset - serverNow);
      windows.push({ left, resetAt: exchange.receivedAt + after, isDay: after > 3_600_000 });
    }
    if (windows.length === 0) return;
    this.budgets.set(
      key,
      windows.reduce((one, other) => (other.left < one.left ? other : one)),
    );
  }

  /** Counts requests whose responses do not say how many are left. */
  spend(cost) {
    for (const [key, count] of Object.entries(cost)) {
      const budget = this.budgets.get(key);
      if (budget !== undefined) budget.left -= count;
    }
  }

  /** When the key can send so many requests: 0 for now, otherwise a time in milliseconds. */
  readyFor(key, cost) {
    const budget = this.budgets.get(key);
    if (budget === undefined || budget.left >= cost || budget.resetAt <= this.now()) return 0;
    return budget.isDay ? Infinity : budget.resetAt;
  }

  /** Ends a check that got a 429 on a raw socket. */
  outOfQuota(exchange) {
    throw new OutOfQuota(exchange);
  }

  /** Records a fault unless the condition holds. */
  expect(condition, message, ...exchanges) {
    if (!condition) this.faults.push({ message, exchanges });
    return Boolean(condition);
  }

  /** Expects a status, and optionally the code of the Error body. */
  expectStatus(exchange, status, code) {
    const { method, target } = exchange.sent;
    const isRight = this.expect(
      exchange.status === status,
      `${method} ${target.slice(0, 80)}: expected status ${status}, got ${exchange.status}`,
      exchange,
    );
    if (!isRight || code === undefined) return isRight;
    return this.expect(
      exchange.code === code,
      `expected code ${code}, got ${String(exchange.code)}`,
      exchange,
    );
  }

  /** Expects a created pet. Only one check asks whether the status is 201 and not 200. */
  expectCreated(exchange) {
    const { status } = exchange;
    return this.expect([200, 201].includes(status), `no pet was created: ${status}`, exchange);
  }

  /** Computes a value once for all checks; a failed attempt is repeated. */
  async once(name, compute) {
    if (!this.memory.has(name)) this.memory.set(name, await compute());
    return this.memory.get(name);
  }

  /** The exchange of the first attempt to create a pet with all members. */
  firstCreate(status = 'available') {
    return this.once(`pet:${status}`, () => this.create({ name: 'Rex', categoryId: 7, status }));
  }

  /** The exchange that created a pet with all members. */
  async pet(status = 'available') {
    const created = await this.firstCreate(status);
    if (created.json?.id === undefined) throw new Skipped('no pet can be created');
    return created;
  }

  /** The exchange that created a pet without a status. */
  petWithoutStatus() {
    return this.once('petWithoutStatus', () => this.create({ name: 'Rex', categoryId: 7 }));
  }

  /** Two available pets with the same members. */
  twins() {
    return this.once('twins', async () => [
      await this.pet(),
      await this.create({ name: 'Rex', categoryId: 7, status: 'available' }),
    ]);
  }

  /** Creates pets until there are more than a default page of them. */
  fill() {
    return this.once('fill', async () => {
      const list = await this.send(`/pets?limit=${FULL_PAGE + 1}`);
      for (let count = list.pets.length; count <= FULL_PAGE; count++) {
        const created = await this.create({ name: `Filler ${count}`, categoryId: 1 });
        if (created.json?.id === undefined) throw new Skipped('no pet can be created');
      }
      return true;
    });
  }

  /** A value that no earlier run has used. */
  unique(prefix) {
    return `${prefix}-${randomBytes(9).toString('hex')}`;
  }

  skip(reason) {
    throw new Skipped(reason);
  }
}
