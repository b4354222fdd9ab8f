/** The RateLimit-Policy header, which is constant for a caller. */
export function policyOf({ perMinute, perDay }) {
  return `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`;
}

/** Sets the five rate-limit headers. */
export function describeQuota(reply, caller, { nowMs, minuteUsed, dayUsed }) {
  const { perMinute, perDay } = caller;
  const minuteLeft = perMinute - minuteUsed;
  const dayLeft = perDay - dayUsed;
  const byMinute = minuteLeft < dayLeft;
  const minuteReset = (Math.floor(nowMs / 60_000) + 1) * 60;
  const dayReset = (Math.floor(nowMs / 86_400_000) + 1) * 86_400;
  const seconds = nowMs / 1000;
  reply.header('x-ratelimit-limit', byMinute ? perMinute : perDay);
  reply.header('x-ratelimit-remaining', byMinute ? minuteLeft : dayLeft);
  reply.header('x-ratelimit-reset', byMinute ? minuteReset : dayReset);
  reply.header('ratelimit-policy', caller.policy);
  reply.header(
    'ratelimit',
    `"minute";r=${minuteLeft};t=${Math.ceil(minuteReset - seconds)},"day";r=${dayLeft};t=${Math.ceil(dayReset - seconds)}`,
  );
}
