// The quota of a client: two counters in this process, and five headers.
const counters = new Map();

/** The RateLimit-Policy header, which is constant for a caller. */
export function policyOf({ perMinute, perDay }) {
  return `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`;
}

/**
 * Counts a request unless a window is full.
 * @returns {{admitted: boolean, headers: Record<string, string | number>}}
 */
export function take({ subject, perMinute, perDay, policy }) {
  const nowMs = Date.now();
  const minute = Math.floor(nowMs / 60_000);
  const day = Math.floor(nowMs / 86_400_000);
  let counter = counters.get(subject);
  if (counter === undefined) {
    counter = { minute, inMinute: 0, day, inDay: 0 };
    counters.set(subject, counter);
  }
  if (counter.minute !== minute) [counter.minute, counter.inMinute] = [minute, 0];
  if (counter.day !== day) [counter.day, counter.inDay] = [day, 0];
  const admitted = counter.inMinute < perMinute && counter.inDay < perDay;
  if (admitted) {
    counter.inMinute++;
    counter.inDay++;
  }
  const [minuteLeft, dayLeft] = [perMinute - counter.inMinute, perDay - counter.inDay];
  const [minuteReset, dayReset] = [(minute + 1) * 60, (day + 1) * 86_400];
  const byMinute = minuteLeft < dayLeft;
  const until = (reset) => Math.ceil(reset - nowMs / 1000);
  const headers = {
    'x-ratelimit-limit': byMinute ? perMinute : perDay,
    'x-ratelimit-remaining': byMinute ? minuteLeft : dayLeft,
    'x-ratelimit-reset': byMinute ? minuteReset : dayReset,
    'ratelimit-policy': policy,
    ratelimit: `"minute";r=${minuteLeft};t=${until(minuteReset)},"day";r=${dayLeft};t=${until(dayReset)}`,
  };
  return { admitted, headers };
}
