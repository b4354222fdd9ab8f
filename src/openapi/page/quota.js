/** Items of a structured field, `"minute";r=59;t=17, "day";r=999;t=40211`: `{ minute: { r: 59, t: 17 } }`. */
function windowsOf(field = '') {
  const windows = {};
  for (const [, name, parameters] of field.matchAll(/"(\w+)"((?:;\w+=\d+)*)/g)) {
    windows[name] = Object.fromEntries(
      [...parameters.matchAll(/;(\w+)=(\d+)/g)].map(([, key, value]) => [key, Number(value)]),
    );
  }
  return windows;
}

const inWords = (seconds) =>
  seconds < 120
    ? `${seconds} s`
    : seconds < 7200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`;

/** Fills the meters of the page from the headers of the latest answer. */
export function showQuota(headers) {
  const left = windowsOf(headers['ratelimit']);
  const quotas = windowsOf(headers['ratelimit-policy']);
  for (const row of document.querySelectorAll('#quota [data-window]')) {
    const { r: remaining, t: seconds } = left[row.dataset.window] ?? {};
    const { q: limit } = quotas[row.dataset.window] ?? {};
    if (remaining === undefined || limit === undefined) continue;
    const meter = row.querySelector('meter');
    meter.max = limit;
    meter.low = limit / 4;
    meter.high = limit / 2;
    meter.optimum = limit;
    meter.value = remaining;
    row.querySelector('b').textContent = remaining.toLocaleString('en');
    row.querySelector('small').textContent =
      `of ${limit.toLocaleString('en')}, again full in ${inWords(seconds)}`;
    document.querySelector('#quota').hidden = false;
  }
}
