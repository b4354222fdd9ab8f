// Two counters per client in this process.
const counters = new Map();

/** Counts a request unless a window is full. @returns {{admitted, nowMs, minuteUsed, dayUsed}} */
export function take({ subject, perMinute, perDay }) {
  const nowMs = Date.now();
  const minute = Math.floor(nowMs / 60_000);
  const day = Math.floor(nowMs / 86_400_000);
  let counter = counters.get(subject);
  if (counter === undefined)
    counters.set(subject, (counter = { minute, inMinute: 0, day, inDay: 0 }));
  if (counter.minute !== minute) [counter.minute, counter.inMinute] = [minute, 0];
  if (counter.day !== day) [counter.day, counter.inDay] = [day, 0];
  const admitted = counter.inMinute < perMinute && counter.inDay < perDay;
  if (admitted) {
    counter.inMinute++;
    counter.inDay++;
  }
  return { admitted, nowMs, minuteUsed: counter.inMinute, dayUsed: counter.inDay };
}
