// Two counters per caller in Redis: one hash, one round trip, one atomic script.
import { Redis } from 'ioredis';

/** Arguments: per minute, per day. The clock is that of Redis, so that the clocks of nodes may differ. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local minute, day = math.floor(now / 60000), math.floor(now / 86400000)
local known = redis.call('HMGET', KEYS[1], 'm', 'mu', 'd', 'du')
local minuteUsed = tonumber(known[1]) == minute and tonumber(known[2]) or 0
local dayUsed = tonumber(known[3]) == day and tonumber(known[4]) or 0
if minuteUsed >= tonumber(ARGV[1]) or dayUsed >= tonumber(ARGV[2]) then
  return {0, now, minuteUsed, dayUsed}
end
minuteUsed, dayUsed = minuteUsed + 1, dayUsed + 1
redis.call('HSET', KEYS[1], 'm', minute, 'mu', minuteUsed, 'd', day, 'du', dayUsed)
if minuteUsed == 1 then redis.call('EXPIRE', KEYS[1], 172800) end
return {1, now, minuteUsed, dayUsed}
`;

/** @returns {(caller: object) => Promise<{admitted, nowMs, minuteUsed, dayUsed}>} */
export function countInRedis(url) {
  // Sends the commands of one tick together.
  const redis = new Redis(url, { enableAutoPipelining: true });
  // Sent as SHA-1, and in full only if Redis does not know it yet.
  redis.defineCommand('take', { numberOfKeys: 1, lua: TAKE });
  return async ({ subject, perMinute, perDay }) => {
    const reply = await redis.take(`floor:${subject}`, perMinute, perDay);
    return { admitted: reply[0] === 1, nowMs: reply[1], minuteUsed: reply[2], dayUsed: reply[3] };
  };
}
