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

/**
 * Responses without a valid key describe the quota of the address. A 429 is taken for one of the
 * key if a response before was.
 */
const describesKey = ({ status }, isShown) =>
  ![401, 403, 503].includes(status) && (status !== 429 || isShown);

/** Shows the quota of the key, as of the latest response, in the meters of the page. */
export function showQuota(response) {
  const quota = document.querySelector('#quota');
  if (response.status === 401) quota.hidden = true;
  if (!describesKey(response, !quota.hidden)) return;
  const { headers } = response;
  const left = windowsOf(headers['ratelimit']);
  const quotas = windowsOf(headers['ratelimit-policy']);
  for (const row of quota.querySelectorAll('[data-window]')) {
    const { r: remaining, t: seconds } = left[row.dataset.window] ?? {};
    const { q: limit } = quotas[row.dataset.window] ?? {};
    if (remaining === undefined || limit === undefined) continue;
    const range = { max: limit, low: limit / 4, high: limit / 2, optimum: limit, value: remaining };
    Object.assign(row.querySelector('meter'), range);
    const end = new Date(Date.now() + seconds * 1000);
    const reset = end.toLocaleTimeString('en-GB', { timeStyle: 'long' });
    row.querySelector('b').textContent = remaining.toLocaleString('en');
    row.querySelector('small').textContent = `of ${limit.toLocaleString('en')}, resets at ${reset}`;
    quota.hidden = false;
  }
}
