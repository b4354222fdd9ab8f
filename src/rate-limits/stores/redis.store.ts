import type { RedisClient, Script } from '../../redis/redis.client.js';
import { DAY_MS, MINUTE_MS } from '../../time/windows.js';
import { ADDRESS_LIFE_LUA } from '../address-worth.js';
import { type Ban, type BanPolicy, NEXT_BAN_LUA } from '../bans/bans.js';
import type { FurtherCount, FurtherLimit } from '../further-limit.js';
import type { Limits } from '../limits.js';
import { isClient, type Subject } from '../subject.js';
import type { Counter } from './memory.store.js';
import type { Decision } from './rate-limit-store.js';

/** As long as anything of a client can count: a ban for a day at most, its memory for another. */
const CLIENT_LIFE_SECONDS = (2 * DAY_MS) / 1000;

/**
 * Counters that all nodes share: one round trip per request, in one script, which Redis runs alone. All
 * that is known of a subject is one hash, so that it lives in one slot of a cluster:
 *
 *   m, mu   the minute, and what was used in it      d, du   the day, and what was used in it
 *   r       refusals in that minute
 *   ba, bu  when the last ban began and ends (ms)    bn      bans in a row
 *   fw:OPERATION, fu:OPERATION   the window of a further limit, and what was used in it
 *
 * The clock is Redis' own, so that nodes need not agree on the time. The rules are those of
 * `memory.store.ts` and `bans.ts`.
 *
 * A client's hash lives for as long as any of it can count. Addresses can be made up without number, and a
 * full Redis counts for nobody: theirs has four fields, and lives for as much of a day as was used of the
 * day's limit. So a flood holds two minutes of itself, however it is spread over addresses, and who is
 * forgotten was idle for as long as what it had used is worth. The nodes that it asked know it even then.
 *
 * A node sends along what it knows of the subject. Where that is more than Redis knows (it was flushed,
 * it restarted empty, the node has counted by itself meanwhile, a ban was lifted that Redis was not told
 * of), it is what counts, before the request is judged: no request slips through a loss.
 */
const PREAMBLE = `${ADDRESS_LIFE_LUA}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function integer(value) return string.format('%d', value) end
local fields = redis.call('HMGET', KEYS[1], 'm', 'mu', 'd', 'du', 'r', 'ba', 'bu', 'bn')
for index = 1, 8 do fields[index] = tonumber(fields[index]) or 0 end
local m, mu, d, du, r, ba, bu, bn = unpack(fields)
local minute, day = math.floor(now / ${MINUTE_MS}), math.floor(now / ${DAY_MS})
local function saveCounts()
  redis.call('HSET', KEYS[1], 'm', integer(m), 'mu', integer(mu), 'd', integer(d), 'du', integer(du))
end
local function saveAddress(perDay)
  saveCounts()
  redis.call('EXPIRE', KEYS[1], integer(addressLife(du, perDay)))
end
local function saveClient()
  saveCounts()
  redis.call('HSET', KEYS[1], 'r', integer(r), 'ba', integer(ba), 'bu', integer(bu), 'bn', integer(bn))
  redis.call('EXPIRE', KEYS[1], ${CLIENT_LIFE_SECONDS})
end
if minute > m then m, mu, r = minute, 0, 0 end
if day > d then d, du = day, 0 end
`;

/**
 * Arguments: per minute, per day, refusals before a ban (0: never), the length of a first ban in ms, 1 for
 * an address; then what the node knows: m, mu, d, du, ba, bu, bn; then, of an operation with a further
 * limit, its name, the limit, the length of its windows in ms, and what the node knows: window, used.
 */
const TAKE: Script = {
  name: 'petstoreTake',
  lua: `${PREAMBLE}${NEXT_BAN_LUA}
local perMinute, perDay, threshold, first, address = unpack(ARGV, 1, 5)
perMinute, perDay, threshold, first = tonumber(perMinute), tonumber(perDay), tonumber(threshold), tonumber(first)
local function save()
  if address == '1' then saveAddress(perDay) else saveClient() end
end
local known = {}
for index = 6, 12 do known[index - 5] = tonumber(ARGV[index]) end
local knownM, knownMu, knownD, knownDu, knownBa, knownBu, knownBn = unpack(known)
local learnt = false
if knownM == m and knownMu > mu then mu, learnt = knownMu, true end
if knownD == d and knownDu > du then du, learnt = knownDu, true end
if knownBa > ba then
  ba, bu, bn, r = knownBa, knownBu, knownBn, 0
elseif knownBa == ba and knownBu < bu then
  bu, r = knownBu, 0
end
if bu > now then return {0, now, m, mu, d, du, bu, ba, bn, 0, 0, 0} end
local operation, fw, fu, full = ARGV[13], 0, 0, 0
if operation then
  local limit, ttl = tonumber(ARGV[14]), tonumber(ARGV[15])
  local stored = redis.call('HMGET', KEYS[1], 'fw:' .. operation, 'fu:' .. operation)
  fw, fu = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
  local window = math.floor(now / ttl)
  if window > fw then fw, fu = window, 0 end
  if tonumber(ARGV[16]) == fw then fu = math.max(fu, tonumber(ARGV[17])) end
  if fu >= limit then full = (fw + 1) * ttl end
end
if mu < perMinute and du < perDay then
  if full > 0 then return {0, now, m, mu, d, du, 0, 0, 0, full, fw, fu} end
  mu, du = mu + 1, du + 1
  save()
  if operation then
    fu = fu + 1
    redis.call('HSET', KEYS[1], 'fw:' .. operation, integer(fw), 'fu:' .. operation, integer(fu))
  end
  return {1, now, m, mu, d, du, 0, 0, 0, 0, fw, fu}
end
if threshold > 0 then
  r = r + 1
  if r > threshold then
    ba, bu, bn = nextBan(ba, bn, now, first)
    r = 0
    save()
    return {2, now, m, mu, d, du, bu, ba, bn, full, fw, fu}
  end
end
if threshold > 0 or learnt then save() end
return {0, now, m, mu, d, du, 0, 0, 0, full, fw, fu}
`,
};

const PEEK: Script = {
  name: 'petstorePeek',
  lua: `${PREAMBLE}
if bu > now then return {0, now, m, mu, d, du, bu, ba, bn} end
return {1, now, m, mu, d, du, 0, 0, 0}
`,
};

/** A write that changes nothing: a full or read-only Redis must not pass for a working one. */
const PROBE: Script = {
  name: 'petstoreProbe',
  lua: `return redis.call('SET', KEYS[1], 1, 'EX', 60)`,
};

const UNBAN: Script = {
  name: 'petstoreUnban',
  lua: `${PREAMBLE}
if bu > 0 then bu, r = 0, 0; saveClient() end
return 1
`,
};

/** @property ban the one in force, with when it began */
export interface SharedDecision extends Decision {
  ban: Ban | undefined;
  furtherCount?: FurtherCount | undefined;
}

/** First 0: refused, 1: admitted, 2: refused and banned for it. The last three only of a take. */
type Reply = [number, number, number, number, number, number, number, number, number, ...number[]];

/** The counters in Redis. It fails where Redis does: `fallback.store.ts` is what stands before it. */
export class RedisStore {
  constructor(
    private readonly client: RedisClient,
    private readonly policy: BanPolicy,
  ) {}

  /** @param known what the node knows of the subject by itself */
  async take(
    subject: Subject,
    { perMinute, perDay }: Limits,
    known: Readonly<Counter> | undefined,
    further?: FurtherLimit,
    furtherKnown?: FurtherCount,
  ): Promise<SharedDecision> {
    const address = !isClient(subject);
    const threshold = address ? 0 : this.policy.afterRejections;
    const args: (number | string)[] = [
      perMinute,
      perDay,
      threshold,
      this.policy.firstBanMs,
      address ? 1 : 0,
    ];
    args.push(known?.minute ?? 0, known?.minuteUsed ?? 0, known?.day ?? 0, known?.dayUsed ?? 0);
    args.push(known?.ban?.at ?? 0, known?.ban?.until ?? 0, known?.ban?.bans ?? 0);
    if (further !== undefined) {
      args.push(further.operation, further.limit, further.ttlMs);
      args.push(furtherKnown?.window ?? 0, furtherKnown?.used ?? 0);
    }
    return toDecision((await this.client.run(TAKE, keyOf(subject), args)) as Reply);
  }

  async peek(subject: Subject): Promise<SharedDecision> {
    return toDecision((await this.client.run(PEEK, keyOf(subject), [])) as Reply);
  }

  /** Whether Redis takes writes, where it keeps this subject. */
  async probe(subject: Subject): Promise<void> {
    await this.client.run(PROBE, `${keyOf(subject)}:probe`, []);
  }

  async unban(subject: Subject): Promise<void> {
    await this.client.run(UNBAN, keyOf(subject), []);
  }
}

/** The braces are a hash tag (Redis Cluster specification): one subject, one slot. */
function keyOf(subject: Subject): string {
  return `petstore:{${subject}}`;
}

function toDecision(reply: Reply): SharedDecision {
  const [admitted, nowMs, minute, minuteUsed, day, dayUsed, until, at, bans] = reply;
  const [full = 0, window = 0, used = 0] = reply.slice(9);
  return {
    admitted: admitted === 1,
    nowMs,
    minute,
    minuteUsed,
    day,
    dayUsed,
    bannedUntilMs: until,
    ...(admitted === 2 && { beganBan: true }),
    ban: until > 0 ? { at, until, bans } : undefined,
    ...(full > 0 && { furtherFullUntilMs: full }),
    furtherCount: window > 0 ? { window, used } : undefined,
  };
}
