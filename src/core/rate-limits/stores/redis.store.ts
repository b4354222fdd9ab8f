import type { Config } from '../../config/config.js';
import type { RedisClient, Script } from '../../redis/redis.client.js';
import { DAY_MS, MINUTE_MS } from '../../time/windows.js';
import { type Ban, MERGE_BANS_LUA, NEXT_BAN_LUA } from '../bans/bans.js';
import { type Limits, MAX_QUOTA } from '../limits.js';
import { isClient } from '../rate-limit-key.js';
import type { Decision, WindowCount } from './rate-limit-store.js';

/** Covers the day's window, the longest ban, and the day for which a ban doubles the next one. */
const CLIENT_TTL_SECONDS = (2 * DAY_MS) / 1000;
const MIN_ADDRESS_TTL_SECONDS = (2 * MINUTE_MS) / 1000;

/** The first number of a reply to a command that came too late. */
const EXPIRED = -1;

/**
 * The last argument is the time of Redis after which nobody waits for the reply. A command that
 * arrives during a pause is executed after it, and would otherwise count, and ban, for nobody.
 */
const CLOCK_LUA = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now > tonumber(ARGV[#ARGV]) then return {${EXPIRED}, now} end
local function integer(value) return string.format('%d', value) end
`;

/**
 * Counters that all nodes share. One script per request, which Redis executes atomically.
 * The counters of a key are one hash, so they live in one slot of a cluster:
 *
 *   m, mu   the minute, and the requests in it       d, du   the day, and the requests in it
 *   r       rejected requests in that minute
 *   ba, bu  start and end of the last ban (ms)       bn      bans in a row
 *
 * The rules are the same as in `memory.store.ts`, with Redis' clock. Each script first merges
 * the last ban that the node knows from the database (0, 0, 0 if none) with the ban in Redis.
 * Addresses can be made up without limit, so the hash of an address expires after the share of a
 * day that it has used of its daily limit, and after two minutes at the earliest.
 */
const PREAMBLE = `${MERGE_BANS_LUA}${CLOCK_LUA}
local fields = redis.call('HMGET', KEYS[1], 'm', 'mu', 'd', 'du', 'r', 'ba', 'bu', 'bn')
for index = 1, 8 do fields[index] = tonumber(fields[index]) or 0 end
local m, mu, d, du, r, ba, bu, bn = unpack(fields)
local minute, day = math.floor(now / ${MINUTE_MS}), math.floor(now / ${DAY_MS})
if minute > m then m, mu, r = minute, 0, 0 end
if day > d then d, du = day, 0 end
local ends = bu
local known = { tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]) }
ba, bu, bn = mergeBans(ba, bu, bn, unpack(known))
if bu ~= ends then r = 0 end
`;

/**
 * Arguments after the ban: per minute, per day, rejected requests before a ban (0: never), length
 * of a first ban in ms, 1 for a client. Returns 0 (rejected), 1 (admitted) or 2 (rejected and
 * banned now), then the counters.
 */
const TAKE: Script = {
  name: 'petstoreTake',
  lua: `${PREAMBLE}${NEXT_BAN_LUA}
local perMinute, perDay = tonumber(ARGV[4]), tonumber(ARGV[5])
local threshold, first, client = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] == '1'
local function set(...) redis.call('HSET', KEYS[1], ...) end
local function save()
  set('m', integer(m), 'mu', integer(mu), 'd', integer(d), 'du', integer(du))
  local ttl = ${CLIENT_TTL_SECONDS}
  if client then
    set('r', integer(r), 'ba', integer(ba), 'bu', integer(bu), 'bn', integer(bn))
  else
    ttl = math.max(${MIN_ADDRESS_TTL_SECONDS}, math.ceil(${DAY_MS / 1000} * du / perDay))
  end
  redis.call('EXPIRE', KEYS[1], integer(ttl))
end
if bu > now then return {0, now, m, mu, d, du, bu, ba, bn} end
if mu < perMinute and du < perDay then
  mu, du = mu + 1, du + 1
  save()
  return {1, now, m, mu, d, du, 0, 0, 0}
end
if threshold > 0 then
  r = r + 1
  if r > threshold then
    ba, bu, bn = nextBan(ba, bn, now, first)
    r = 0
    save()
    return {2, now, m, mu, d, du, bu, ba, bn}
  end
  save()
end
return {0, now, m, mu, d, du, 0, 0, 0}
`,
};

const PEEK: Script = {
  name: 'petstorePeek',
  lua: `${PREAMBLE}
if bu > now then return {0, now, m, mu, d, du, bu, ba, bn} end
return {1, now, m, mu, d, du, 0, 0, 0}
`,
};

/** The rule of `MemoryStore.count()`. The argument is the length of a window in ms. */
const COUNT: Script = {
  name: 'petstoreCount',
  lua: `${CLOCK_LUA}
local length = tonumber(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'used', 'ends')
local used, ends = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
if ends <= now then used, ends = 0, (math.floor(now / length) + 1) * length end
used = used + 1
redis.call('HSET', KEYS[1], 'used', integer(used), 'ends', integer(ends))
redis.call('EXPIRE', KEYS[1], integer(math.ceil((ends - now) / 1000)))
return {used, now, ends - now}
`,
};

/** The second number is the time of Redis. */
type Reply = [number, number, number, number, number, number, number, number, number];

/** The counters in Redis. Its methods reject if Redis fails: `fallback.store.ts` handles that. */
export class RedisStore {
  /** The clock of Redis minus the monotonic one of this process, in ms: never less than it is. */
  private clockOffsetMs = Number.MAX_SAFE_INTEGER / 2;

  constructor(
    private readonly client: RedisClient,
    private readonly config: Config,
  ) {
    for (const script of [TAKE, PEEK, COUNT]) client.define(script);
  }

  /** @param known the last ban of the client that this node knows */
  async take(
    key: string,
    { perMinute, perDay }: Limits,
    known: Ban | undefined,
  ): Promise<Decision> {
    const { banAfterRejections, banSeconds } = this.config;
    const client = isClient(key);
    const threshold = client ? banAfterRejections : 0;
    const args: (number | string)[] = [...banArguments(known), perMinute, perDay, threshold];
    args.push(banSeconds * 1000, client ? 1 : 0);
    return toDecision(await this.run(TAKE, nameOf(key), args));
  }

  async peek(key: string, known: Ban | undefined): Promise<Decision> {
    return toDecision(await this.run(PEEK, nameOf(key), banArguments(known)));
  }

  async count(key: string, windowMs: number): Promise<WindowCount> {
    const [used, , endsInMs] = await this.run(COUNT, nameOf(key), [windowMs]);
    return { used, endsInMs };
  }

  /** Rejects unless Redis runs `take()`, with its writes, in the slot of this key. */
  async probe(key: string): Promise<void> {
    const args = [...banArguments(undefined), MAX_QUOTA, MAX_QUOTA, 0, 0, 0];
    await this.run(TAKE, `${nameOf(key)}:take`, args);
  }

  private async run(script: Script, name: string, args: (number | string)[]): Promise<Reply> {
    for (;;) {
      const sentAtMs = performance.now();
      const deadlineMs = Math.ceil(sentAtMs + this.clockOffsetMs) + this.client.timeoutMs;
      const reply = (await this.client.run(script, name, [...args, deadlineMs])) as Reply;
      this.clockOffsetMs = reply[1] + 1 - sentAtMs;
      // In time for this process: the clock of Redis was set, or that of its shard differs.
      if (reply[0] !== EXPIRED) return reply;
    }
  }
}

/** The braces are a hash tag of Redis Cluster: the probe of a key is in the same slot. */
function nameOf(key: string): string {
  return `petstore:{${key}}`;
}

function banArguments(ban: Ban | undefined): number[] {
  return ban === undefined ? [0, 0, 0] : [ban.at, ban.until, ban.bans];
}

function toDecision(reply: Reply): Decision {
  const [result, nowMs, minute, minuteUsed, day, dayUsed, until, at, bans] = reply;
  return {
    admitted: result === 1,
    nowMs,
    minute,
    minuteUsed,
    day,
    dayUsed,
    bannedUntilMs: until,
    newBan: result === 2 ? { at, until, bans } : undefined,
  };
}
