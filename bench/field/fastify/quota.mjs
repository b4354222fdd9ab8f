/** The RateLimit-Policy header, which is constant for a caller. */
export function policyOf({ perMinute, perDay }) {
  return `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`;
}

/** The five rate-limit headers. @returns {Record<string, string | number>} */
export function quotaHeaders({ perMinute, perDay, policy }, { nowMs, minuteUsed, dayUsed }) {
  const minuteLeft = perMinute - minuteUsed;
  const dayLeft = perDay - dayUsed;
  const byMinute = minuteLeft < dayLeft;
  const minuteReset = (Math.floor(nowMs / 60_000) + 1) * 60;
  const dayReset = (Math.floor(nowMs / 86_400_000) + 1) * 86_400;
  const [minuteSeconds, daySeconds] = [minuteReset, dayReset].map((reset) =>
    Math.ceil(reset - nowMs / 1000),
  );
  return {
    'x-ratelimit-limit': byMinute ? perMinute : perDay,
    'x-ratelimit-remaining': byMinute ? minuteLeft : dayLeft,
    'x-ratelimit-reset': byMinute ? minuteReset : dayReset,
    'ratelimit-policy': policy,
    ratelimit: `"minute";r=${minuteLeft};t=${minuteSeconds},"day";r=${dayLeft};t=${daySeconds}`,
  };
}
