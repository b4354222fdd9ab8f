import type { Config } from '../../config/config.js';
import type { RedisClient, Script } from '../../redis/redis.client.js';
import { DAY_MS, MINUTE_MS } from '../../time/windows.js';
import { type Ban, MERGE_BANS_LUA, NEXT_BAN_LUA } from '../bans/bans.js';
import type { FurtherLimit, Limits } from '../limits.js';
import { isClient } from '../rate-limit-key.js';
import type { Decision } from './rate-limit-store.js';

/** Covers the day's window, the longest ban, and the day for which a ban doubles the next one. */
const CLIENT_TTL_SECONDS = (2 * DAY_MS) / 1000;
const MIN_ADDRESS_TTL_SECONDS = (2 * MINUTE_MS) / 1000;

/**
 * Counters that all nodes share. One script per request, which Redis executes atomically.
 * Everything about a subject is one hash, so it lives in one slot of a cluster:
 *
 *   m, mu   the minute, and the requests in it       d, du   the day, and the requests in it
 *   r       refusals in that minute
 *   ba, bu  start and end of the last ban (ms)       bn      bans in a row
 *   fw:OPERATION, fu:OPERATION   window of a further limit, and the requests in it
 *
 * The rules are those of `memory.store.ts`; the clock is that of Redis. Each script first merges
 * the last ban that the node knows from the database (0, 0, 0 if none) with the ban in Redis.
 * Addresses can be made up without limit, so the hash of an address expires after the share of a
 * day that it has used of its daily limit, and after two minutes at the earliest.
 */
const PREAMBLE = `${MERGE_BANS_LUA}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function integer(value) return string.format('%d', value) end
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
 * Further arguments: per minute, per day, refusals before a ban (0: never), length of a first ban
 * in ms, 1 for a client; with a further limit its name, limit and window length in ms. Returns 0
 * (refused), 1 (admitted) or 2 (refused and banned now), then the counters.
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
if bu > now then return {0, now, m, mu, d, du, bu, ba, bn, 0} end
local operation, window, used, full = ARGV[9], 0, 0, 0
if operation then
  local limit, ttl = tonumber(ARGV[10]), tonumber(ARGV[11])
  local stored = redis.call('HMGET', KEYS[1], 'fw:' .. operation, 'fu:' .. operation)
  window, used = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
  if math.floor(now / ttl) > window then window, used = math.floor(now / ttl), 0 end
  if used >= limit then full = (window + 1) * ttl end
end
if mu < perMinute and du < perDay then
  if full > 0 then return {0, now, m, mu, d, du, 0, 0, 0, full} end
  mu, du = mu + 1, du + 1
  save()
  if operation then
    set('fw:' .. operation, integer(window), 'fu:' .. operation, integer(used + 1))
  end
  return {1, now, m, mu, d, du, 0, 0, 0, 0}
end
if threshold > 0 then
  r = r + 1
  if r > threshold then
    ba, bu, bn = nextBan(ba, bn, now, first)
    r = 0
    save()
    return {2, now, m, mu, d, du, bu, ba, bn, full}
  end
  save()
end
return {0, now, m, mu, d, du, 0, 0, 0, full}
`,
};

const PEEK: Script = {
  name: 'petstorePeek',
  lua: `${PREAMBLE}
if bu > now then return {0, now, m, mu, d, du, bu, ba, bn, 0} end
return {1, now, m, mu, d, du, 0, 0, 0, 0}
`,
};

/** A write, because a full or read-only Redis must not count as a working one. */
const PROBE: Script = {
  name: 'petstoreProbe',
  lua: `return redis.call('SET', KEYS[1], 1, 'EX', 60)`,
};

type Reply = [number, number, number, number, number, number, number, number, number, number];

/** The counters in Redis. Its methods reject if Redis fails: `fallback.store.ts` handles that. */
export class RedisStore {
  constructor(
    private readonly client: RedisClient,
    private readonly config: Config,
  ) {
    for (const script of [TAKE, PEEK, PROBE]) client.define(script);
  }

  /** @param known the last ban of the subject that this node knows */
  async take(
    subject: string,
    { perMinute, perDay }: Limits,
    known: Ban | undefined,
    further?: FurtherLimit,
  ): Promise<Decision> {
    const { banAfterRejections, banSeconds } = this.config;
    const client = isClient(subject);
    const threshold = client ? banAfterRejections : 0;
    const args: (number | string)[] = [...banArguments(known), perMinute, perDay, threshold];
    args.push(banSeconds * 1000, client ? 1 : 0);
    if (further !== undefined) args.push(further.operation, further.limit, further.ttlMs);
    return toDecision((await this.client.run(TAKE, keyOf(subject), args)) as Reply);
  }

  async peek(subject: string, known: Ban | undefined): Promise<Decision> {
    return toDecision((await this.client.run(PEEK, keyOf(subject), banArguments(known))) as Reply);
  }

  /** Rejects unless Redis accepts writes in the slot of this subject. */
  async probe(subject: string): Promise<void> {
    await this.client.run(PROBE, `${keyOf(subject)}:probe`);
  }
}

/** The braces are a hash tag of Redis Cluster: everything about one subject is in one slot. */
function keyOf(subject: string): string {
  return `petstore:{${subject}}`;
}

function banArguments(ban: Ban | undefined): number[] {
  return ban === undefined ? [0, 0, 0] : [ban.at, ban.until, ban.bans];
}

function toDecision(reply: Reply): Decision {
  const [result, nowMs, minute, minuteUsed, day, dayUsed, until, at, bans, full] = reply;
  return {
    admitted: result === 1,
    nowMs,
    minute,
    minuteUsed,
    day,
    dayUsed,
    bannedUntilMs: until,
    newBan: result === 2 ? { at, until, bans } : undefined,
    furtherFullUntilMs: full,
  };
}
