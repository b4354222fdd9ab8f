/** Parses `"minute";r=59;t=17, "day";r=999;t=40211` into `{ minute: { r: 59, t: 17 }, ... }`. */
function windowsOf(field = '') {
  const items = field.matchAll(/"(\w+)"((?:;\w+=\d+)*)/g);
  return Object.fromEntries(
    Array.from(items, ([, name, parameters]) => {
      const pairs = Array.from(parameters.matchAll(/;(\w+)=(\d+)/g), ([, key, value]) => [
        key,
        +value,
      ]);
      return [name, Object.fromEntries(pairs)];
    }),
  );
}

/** Shows the quota of the latest response in the meters of the page. */
export function showQuota(headers) {
  const left = windowsOf(headers['ratelimit']);
  const quotas = windowsOf(headers['ratelimit-policy']);
  for (const row of document.querySelectorAll('#quota [data-window]')) {
    const { r: remaining, t: seconds } = left[row.dataset.window] ?? {};
    const { q: limit } = quotas[row.dataset.window] ?? {};
    if (remaining === undefined || limit === undefined) continue;
    const range = { max: limit, low: limit / 4, high: limit / 2, optimum: limit, value: remaining };
    Object.assign(row.querySelector('meter'), range);
    const reset = new Date(Date.now() + seconds * 1000).toLocaleTimeString('en-GB');
    row.querySelector('b').textContent = remaining.toLocaleString('en');
    row.querySelector('small').textContent = `of ${limit.toLocaleString('en')}, resets at ${reset}`;
    document.querySelector('#quota').hidden = false;
  }
}
