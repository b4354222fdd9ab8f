// Sections 3 and 4 of the contract: keys, windows, limits.
import { crc32 } from 'node:zlib';
import { observer } from './from-data.js';
import { serverTime } from './core.js';

/** A key with more requests a minute is not used up. */
const LARGEST_SMALL_LIMIT = 100;
const BATCH = 20;
/** A window that ends sooner is not begun. */
const MARGIN_SECONDS = 3;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** @type {import('./from-data.js').Check[]} */
const keys = [
  {
    name: 'quota.key.scheme',
    level: 'quota',
    sentence: 'The scheme is case-insensitive; spaces separate scheme and key.',
    source: 'contract, section 3',
    rfc: 'RFC 9110 section 11.1',
    cost: { main: 1 },
    run: async (context) => {
      const authorization = `bEARER   ${context.keys.main}`;
      const exchange = await context.send('/pets?limit=1', { headers: { authorization } });
      context.expectStatus(exchange, 200);
    },
  },
  {
    name: 'quota.key.rejected-forms',
    level: 'quota',
    sentence:
      'Two Authorization fields, an empty key, other white space around it, and another character in it are 401.',
    source: 'contract, section 3',
    rfc: 'RFC 6750 section 2.1',
    cost: { none: 4 },
    run: async (context) => {
      const key = context.keys.main;
      const other = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
      const twice = { authorization: [`Bearer ${key}`, `Bearer ${key}`] };
      const both = await context.send('/pets?limit=1', { headers: twice, isObserved: false });
      // A proxy may reject the second field itself.
      context.expect([400, 401].includes(both.status), `two fields are ${both.status}`, both);
      for (const authorization of ['Bearer', `Bearer\t${key}`, `Bearer ${other}`]) {
        const exchange = await context.send('/pets?limit=1', { headers: { authorization } });
        context.expectStatus(exchange, 401);
      }
    },
  },
  {
    name: 'quota.key.unknown-with-checksum',
    level: 'quota',
    sentence: 'An unknown key with a correct checksum is 401 invalid_api_key.',
    source: 'contract, section 3; section 9, item 4',
    cost: { none: 1 },
    run: async (context) => {
      const exchange = await context.send('/pets?limit=1', {
        key: withChecksum(`psk_${'B'.repeat(43)}`),
      });
      context.expectStatus(exchange, 401, 'invalid_api_key');
    },
  },
  {
    name: 'quota.scope.write',
    level: 'quota',
    sentence:
      'A valid key without the required scope gets 403 insufficient_scope, before the body is read.',
    source: 'contract, section 3; section 9, item 1',
    needs: ['read'],
    cost: { read: 2 },
    run: async (context) => {
      for (const body of ['{"name":"Rex","categoryId":7}', '{']) {
        const exchange = await context.create(body, { key: 'read' });
        context.expectStatus(exchange, 403, 'insufficient_scope');
      }
    },
  },
  {
    name: 'quota.scope.read',
    level: 'quota',
    sentence: 'A key with pets:read may list pets.',
    source: 'contract, section 3',
    needs: ['read'],
    cost: { read: 1 },
    run: async (context) => {
      context.expectStatus(await context.send('/pets?limit=1', { key: 'read' }), 200);
    },
  },
  {
    name: 'quota.rotation',
    level: 'quota',
    sentence:
      'Rotation creates a new key; the old key stays valid for a grace period, and cannot be rotated again once its successor was used.',
    source: 'contract, sections 3 and 12',
    needs: ['spare'],
    cost: { spare: 3 },
    run: async (context) => {
      const rotate = () => context.send('/key/rotate', { method: 'POST', key: 'spare' });
      const rotated = await rotate();
      if (rotated.status === 403) context.skip('PETSTORE_SPARE_KEY lacks the scope key:rotate');
      if (rotated.code === 'key_already_rotated') {
        context.skip('PETSTORE_SPARE_KEY was rotated before');
      }
      if (!context.expectStatus(rotated, 201)) return;
      const { key } = rotated.json;
      context.keys.successor = key;
      context.expectStatus(await context.send('/pets?limit=1', { key: 'successor' }), 200);
      context.expectStatus(await context.send('/pets?limit=1', { key: 'spare' }), 200);
      context.expectStatus(await rotate(), 409, 'key_already_rotated');
    },
  },
  {
    name: 'quota.revocation',
    level: 'quota',
    sentence: 'A revoked key gets 401 on every node within 1 second.',
    source: 'contract, sections 3 and 12',
    needs: ['spare'],
    cost: { spare: 1, none: 2 },
    run: async (context) => {
      const key = context.keys.successor === undefined ? 'spare' : 'successor';
      const revoked = await context.send('/key', { method: 'DELETE', key });
      context.expectStatus(revoked, 204);
      await context.sleep(1_000);
      for (const base of context.nodes) {
        const exchange = await context.send('/pets?limit=1', { key, base });
        context.expectStatus(exchange, 401, 'invalid_api_key');
      }
    },
  },
];

/** @type {import('./from-data.js').Check[]} */
const windows = [
  {
    name: 'quota.counts.every-request',
    level: 'quota',
    sentence:
      'Every request of a key counts once in both windows, also one that gets 304, 400 or 404.',
    source: 'contract, sections 2 and 4',
    cost: { main: 4 },
    run: async (context) => {
      const exchanges = [await context.send('/pets?limit=1')];
      const headers = { 'if-none-match': '*' };
      exchanges.push(await context.send('/pets?limit=1', { headers }));
      exchanges.push(await context.send('/pets?limit=0'));
      exchanges.push(await context.send('/pets/9223372036854775806'));
      exchanges.slice(1).forEach((exchange, index) => {
        for (const [name, before] of Object.entries(exchanges[index].windows)) {
          const after = exchange.windows[name];
          // A window that began in between.
          if (after === undefined || after.seconds > before.seconds) continue;
          const isOne = before.left - after.left === 1;
          const message = `${before.left - after.left} requests were counted in the ${name}`;
          context.expect(isOne, message, exchanges[index], exchange);
        }
      });
    },
  },
  {
    name: 'quota.counts.not-without-key',
    level: 'quota',
    sentence: 'A request without a valid key counts against no key.',
    source: 'contract, section 4',
    cost: { main: 2, none: 2 },
    run: async (context) => {
      const before = await context.send('/pets?limit=1');
      await context.send('/pets', { key: 'none' });
      const authorization = `Bearer ${context.keys.main}x`;
      await context.send('/pets', { headers: { authorization } });
      const after = await context.send('/pets?limit=1');
      const [one, other] = [before, after].map((exchange) => exchange.windows.day);
      if (one === undefined || other === undefined) context.skip('there is no RateLimit field');
      const isOne = one.left - other.left === 1 || other.seconds > one.seconds;
      context.expect(isOne, 'a failed authentication was counted', before, after);
    },
  },
  {
    name: 'quota.address',
    level: 'quota',
    sentence: 'Failed authentication counts against the address, under the same headers.',
    source: 'contract, section 4',
    cost: { none: 2 },
    run: async (context) => {
      const before = await context.send('/pets', { key: 'none' });
      const after = await context.send('/pets', { key: 'none' });
      const [one, other] = [before, after].map((exchange) => exchange.windows.minute);
      if (one === undefined || other === undefined) context.skip('there is no RateLimit field');
      const isCounted = other.left < one.left || other.seconds > one.seconds;
      context.expect(isCounted, 'a failed authentication was not counted', before, after);
    },
  },
  {
    name: 'quota.windows.utc',
    level: 'quota',
    sentence:
      'The windows are the UTC minute (resets at :00 seconds) and the UTC day (resets at 00:00).',
    source: 'contract, section 4',
    cost: { main: 1 },
    run: async (context) => {
      const exchange = await context.send('/pets?limit=1');
      for (const [name, length] of [
        ['minute', 60],
        ['day', 86_400],
      ]) {
        const window = exchange.windows[name];
        if (!context.expect(window !== undefined, `there is no window ${name}`, exchange)) continue;
        // Date and t are whole seconds.
        const off = Math.abs(
          ((serverTime(exchange) + window.seconds + length / 2) % length) - length / 2,
        );
        context.expect(off <= 2, `the ${name} resets ${off} s beside its boundary`, exchange);
      }
    },
  },
  observer({
    name: 'quota.headers.fullest-window',
    level: 'quota',
    sentence:
      'X-RateLimit-* describe the window with the fewest requests left; on a tie, the window that resets later.',
    source: 'contract, section 4',
    samples: [{ path: '/pets?limit=1' }],
    isSubject: ({ windows: { minute, day } }) => minute !== undefined && day !== undefined,
    faults: (exchange) => faultsOfWindow(exchange),
  }),
];

/** @type {import('./from-data.js').Check[]} */
const limits = [
  {
    name: 'quota.limit.admitted',
    level: 'quota',
    sentence: 'Exactly the limit is admitted; a request over the limit is 429.',
    source: 'specification, Rate limits; contract, section 4',
    rfc: 'RFC 6585 section 4',
    needs: ['small'],
    cost: { small: 1 },
    run: async (context) => {
      const { left, admitted, rejected, last } = await usedUp(context);
      const isExact = admitted === left;
      context.expect(isExact, `${admitted} requests were admitted, ${left} were left`, last);
      context.expect(rejected.length > 0, 'no request was rejected', last);
    },
  },
  {
    name: 'quota.limit.retry-after',
    level: 'quota',
    sentence: 'A 429 carries Retry-After in whole seconds, never below 1, up to the reset.',
    source: 'specification, Rate limits; contract, section 4',
    rfc: 'RFC 9110 section 10.2.3',
    needs: ['small'],
    cost: {},
    run: async (context) => {
      for (const exchange of (await usedUp(context)).rejected) {
        const after = exchange.header('retry-after') ?? '';
        if (
          !context.expect(/^[1-9]\d*$/.test(after), 'Retry-After is no positive number', exchange)
        ) {
          continue;
        }
        const reset = Number(exchange.header('x-ratelimit-reset'));
        const off = Math.abs(serverTime(exchange) + Number(after) - reset);
        context.expect(off <= 2, 'Retry-After and X-RateLimit-Reset differ', exchange);
      }
    },
  },
  {
    name: 'quota.limit.error',
    level: 'quota',
    sentence: 'The 429 is rate_limit_exceeded with the Error body and no requests remaining.',
    source: 'contract, sections 2, 4 and 6',
    needs: ['small'],
    cost: {},
    run: async (context) => {
      for (const exchange of (await usedUp(context)).rejected) {
        context.expectStatus(exchange, 429, 'rate_limit_exceeded');
        const isNone = exchange.header('x-ratelimit-remaining') === '0';
        context.expect(isNone, 'X-RateLimit-Remaining is not 0', exchange);
      }
    },
  },
  {
    name: 'quota.limit.before-content',
    level: 'quota',
    sentence: 'A caller over its limit gets 429 whatever path, method or body it sends.',
    source: 'contract, section 2, evaluation order',
    needs: ['small'],
    cost: {},
    run: async (context) => {
      await usedUp(context);
      const options = { key: 'small', allows429: true };
      const exchanges = [
        await context.send('/nope', options),
        await context.send('/pets', { ...options, method: 'PUT' }),
        await context.create('{', options),
        await context.send('/pets?limit=0', options),
      ];
      if (isOver(context)) context.skip('the window ended');
      for (const exchange of exchanges) context.expectStatus(exchange, 429);
    },
  },
  {
    name: 'quota.limit.rejected-not-counted',
    level: 'quota',
    sentence: 'A rejected request counts in neither window.',
    source: 'contract, section 4',
    needs: ['small'],
    cost: {},
    run: async (context) => {
      const { last, rejected } = await usedUp(context);
      const [before, after] = [last, rejected.at(-1)].map((exchange) => exchange?.windows.day);
      if (before === undefined || after === undefined) context.skip('there is no RateLimit field');
      const isSame = before.left === after.left || after.seconds > before.seconds;
      context.expect(isSame, 'the day has fewer requests left after a 429', last, rejected.at(-1));
    },
  },
  {
    name: 'quota.limit.other-keys',
    level: 'quota',
    sentence: 'A key over its limit affects no other key.',
    source: 'contract, section 4',
    needs: ['small'],
    cost: { main: 1 },
    run: async (context) => {
      await usedUp(context);
      context.expectStatus(await context.send('/pets?limit=1'), 200);
    },
  },
  {
    name: 'quota.limit.admitted-again',
    level: 'quota',
    sentence: 'A caller that waits exactly as long as Retry-After says is admitted.',
    source: 'specification, Rate limits; contract, section 4',
    needs: ['small'],
    cost: {},
    // Waits for the window after everything else that can be done before.
    readyAt: (context) => {
      const rejected = context.memory.get('usedUp')?.rejected.at(-1);
      const seconds = Number(rejected?.header('retry-after') ?? 0);
      return rejected === undefined ? 0 : rejected.receivedAt + seconds * 1000;
    },
    run: async (context) => {
      await usedUp(context);
      const exchange = await context.send('/pets?limit=1', { key: 'small', allows429: true });
      context.expectStatus(exchange, 200);
    },
  },
];

/** Uses up the small key. @returns what was left, what was admitted, and the rejected requests */
function usedUp(context) {
  return context.once('usedUp', async () => {
    const ask = () => context.send('/pets?limit=1', { key: 'small', allows429: true });
    let first = await ask();
    const { minute } = first.windows;
    const soon = minute?.seconds ?? Number(first.header('x-ratelimit-reset')) - serverTime(first);
    if (first.status === 429) context.skip('PETSTORE_SMALL_KEY was used up before');
    if (soon <= MARGIN_SECONDS) {
      await context.sleep((soon + 1) * 1000);
      first = await ask();
    }
    const left = first.windows.minute?.left ?? Number(first.header('x-ratelimit-remaining'));
    if (!(left <= LARGEST_SMALL_LIMIT)) {
      context.skip(`PETSTORE_SMALL_KEY has more than ${LARGEST_SMALL_LIMIT} requests a minute`);
    }
    let [admitted, last, rejected] = [0, first, []];
    for (let sent = 0; sent < left + 2;) {
      const count = Math.min(BATCH, left + 2 - sent);
      const exchanges = await Promise.all(Array.from({ length: count }, ask));
      sent += count;
      for (const exchange of exchanges) {
        if (exchange.status === 429) rejected.push(exchange);
        else admitted++;
      }
      const ok = exchanges.filter(({ status }) => status !== 429);
      last = [last, ...ok].reduce((one, other) => (daysLeft(other) < daysLeft(one) ? other : one));
    }
    return { left, admitted, rejected, last };
  });
}

const daysLeft = ({ windows: { day } }) => day?.left ?? Infinity;

/** Whether the window in which the small key was used up has ended. */
function isOver(context) {
  return context.now() >= limits.at(-1).readyAt(context) - 1_000;
}

function faultsOfWindow(exchange) {
  const { minute, day } = exchange.windows;
  const [, perMinute, perDay] =
    /"minute";q=(\d+);.*"day";q=(\d+);/.exec(exchange.header('ratelimit-policy') ?? '') ?? [];
  // On a tie, the day resets later, except in its last minute, where both reset together.
  const isMinute = minute.left < day.left;
  const [window, limit] = isMinute ? [minute, perMinute] : [day, perDay];
  const faults = [];
  if (exchange.header('x-ratelimit-remaining') !== String(window.left)) {
    faults.push(`X-RateLimit-Remaining is not ${window.left}`);
  }
  if (exchange.header('x-ratelimit-limit') !== limit) {
    faults.push(`X-RateLimit-Limit is not ${limit}`);
  }
  const reset = Number(exchange.header('x-ratelimit-reset'));
  const off = Math.abs(serverTime(exchange) + window.seconds - reset);
  if (!(off <= 2)) faults.push('X-RateLimit-Reset is not the reset of this window');
  return faults;
}

/** Appends the checksum of a key: CRC-32 in base62, of six characters. */
function withChecksum(start) {
  let [sum, digits] = [crc32(start), ''];
  for (let count = 0; count < 6; count++) {
    digits = BASE62[sum % 62] + digits;
    sum = Math.floor(sum / 62);
  }
  return start + digits;
}

export const quotaChecks = [...keys, ...windows, ...limits];
