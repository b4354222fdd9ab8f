import type { RedisClient, Script } from '../redis/redis.client.js';
import type { Ban, BanPolicy } from './bans.js';
import type { Limits } from './limits.js';
import type { Counter } from './memory.store.js';
import type { Decision } from './rate-limit-store.js';

/**
 * Counters that all nodes share: one round trip per request, in one script, which Redis runs alone. All
 * that is known of a subject is one hash, so that it lives in one slot of a cluster:
 *
 *   m, mu   the minute, and what was used in it      d, du   the day, and what was used in it
 *   r       refusals in that minute
 *   ba, bu  when the last ban began and ends (ms)    bn      bans in a row
 *
 * The clock is Redis' own, so that nodes need not agree on the time. It lives for two days: as long as
 * any of it can count. The rules are those of `memory.store.ts` and `bans.ts`.
 *
 * A node sends along what it knows of the subject. Where that is more than Redis knows (it was flushed,
 * it restarted empty, the node has counted by itself meanwhile, a ban was lifted that Redis was not told
 * of), it is what counts, before the request is judged: no request slips through a loss.
 */
const PREAMBLE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function integer(value) return string.format('%d', value) end
local fields = redis.call('HMGET', KEYS[1], 'm', 'mu', 'd', 'du', 'r', 'ba', 'bu', 'bn')
for index = 1, 8 do fields[index] = tonumber(fields[index]) or 0 end
local m, mu, d, du, r, ba, bu, bn = unpack(fields)
local minute, day = math.floor(now / 60000), math.floor(now / 86400000)
local function save()
  redis.call('HSET', KEYS[1], 'm', integer(m), 'mu', integer(mu), 'd', integer(d), 'du', integer(du),
    'r', integer(r), 'ba', integer(ba), 'bu', integer(bu), 'bn', integer(bn))
  redis.call('EXPIRE', KEYS[1], 172800)
end
if minute > m then m, mu, r = minute, 0, 0 end
if day > d then d, du = day, 0 end
`;

/**
 * Arguments: per minute, per day, refusals before a ban (0: never), the length of a first ban in ms; then
 * what the node knows: m, mu, d, du, ba, bu, bn.
 */
const TAKE: Script = {
  name: 'petstoreTake',
  lua: `${PREAMBLE}
local known = {}
for index = 5, 11 do known[index - 4] = tonumber(ARGV[index]) end
local knownM, knownMu, knownD, knownDu, knownBa, knownBu, knownBn = unpack(known)
if knownM == m then mu = math.max(mu, knownMu) end
if knownD == d then du = math.max(du, knownDu) end
if knownBa > ba then
  ba, bu, bn, r = knownBa, knownBu, knownBn, 0
elseif knownBa == ba and knownBu < bu then
  bu, r = knownBu, 0
end
if bu > now then return {0, now, mu, du, bu, ba, bn} end
local perMinute, perDay = tonumber(ARGV[1]), tonumber(ARGV[2])
if mu < perMinute and du < perDay then
  mu, du = mu + 1, du + 1
  save()
  return {1, now, mu, du, 0, 0, 0}
end
local threshold, first = tonumber(ARGV[3]), tonumber(ARGV[4])
if threshold == 0 then return {0, now, mu, du, 0, 0, 0} end
r = r + 1
if r > threshold then
  if ba > 0 and now - ba < 86400000 then bn = bn + 1 else bn = 1 end
  ba, r = now, 0
  bu = now + math.min(first * 2 ^ math.min(bn - 1, 30), math.max(3600000, first))
  save()
  return {0, now, mu, du, bu, ba, bn}
end
save()
return {0, now, mu, du, 0, 0, 0}
`,
};

const PEEK: Script = {
  name: 'petstorePeek',
  lua: `${PREAMBLE}
if bu > now then return {0, now, mu, du, bu, ba, bn} end
return {1, now, mu, du, 0, 0, 0}
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
if bu > 0 then bu, r = 0, 0; save() end
return 1
`,
};

/** @property ban the one in force, with when it began */
export interface SharedDecision extends Decision {
  ban: Ban | undefined;
}

type Reply = [number, number, number, number, number, number, number];

/** The counters in Redis. It fails where Redis does: `fallback.store.ts` is what stands before it. */
export class RedisStore {
  constructor(
    private readonly client: RedisClient,
    private readonly policy: BanPolicy,
  ) {}

  /** @param known what the node knows of the subject by itself */
  async take(
    subject: string,
    { perMinute, perDay, bans }: Limits,
    known: Readonly<Counter> | undefined,
  ): Promise<SharedDecision> {
    const threshold = bans ? this.policy.afterRejections : 0;
    const args = [perMinute, perDay, threshold, this.policy.firstBanMs];
    args.push(known?.minute ?? 0, known?.minuteUsed ?? 0, known?.day ?? 0, known?.dayUsed ?? 0);
    args.push(known?.ban?.at ?? 0, known?.ban?.until ?? 0, known?.ban?.bans ?? 0);
    return toDecision((await this.client.run(TAKE, keyOf(subject), args)) as Reply);
  }

  async peek(subject: string): Promise<SharedDecision> {
    return toDecision((await this.client.run(PEEK, keyOf(subject), [])) as Reply);
  }

  /** Whether Redis takes writes, where it keeps this subject. */
  async probe(subject: string): Promise<void> {
    await this.client.run(PROBE, `${keyOf(subject)}:probe`, []);
  }

  async unban(subject: string): Promise<void> {
    await this.client.run(UNBAN, keyOf(subject), []);
  }
}

/** The braces are a hash tag (Redis Cluster specification): one subject, one slot. */
function keyOf(subject: string): string {
  return `petstore:{${subject}}`;
}

function toDecision([
  admitted,
  nowMs,
  minuteUsed,
  dayUsed,
  until,
  at,
  bans,
]: Reply): SharedDecision {
  return {
    admitted: admitted === 1,
    nowMs,
    minuteUsed,
    dayUsed,
    bannedUntilMs: until,
    ban: until > 0 ? { at, until, bans } : undefined,
  };
}
