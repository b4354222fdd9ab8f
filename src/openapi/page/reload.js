// Runs before the scripts that it watches. If one of them cannot be loaded, for example because of
// a 429, the page shows that, and reloads itself once the script is available.
const RETRY_SECONDS = 10;
const ownFolder = new URL('.', document.currentScript.src).href;

async function reloadOnce(script) {
  for (let isRetry = false; ; isRetry = true) {
    // The cache of the browser may contain the failure.
    const response = await fetch(script, { cache: 'reload' }).catch(() => undefined);
    if (response?.ok && isRetry) return location.reload();
    const seconds = Number(response?.headers.get('retry-after')) || RETRY_SECONDS;
    document.querySelector('#swagger-ui > .loading').textContent =
      `Part of this page failed to load: retrying in ${seconds} s`;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const onError = ({ target }) => {
  // Scripts of browser extensions are not watched.
  if (!(target instanceof HTMLScriptElement) || !target.src.startsWith(ownFolder)) return;
  removeEventListener('error', onError, true);
  const reload = () => reloadOnce(target.src);
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', reload);
  else void reload();
};
// Errors of elements do not bubble, so the listener captures them.
addEventListener('error', onError, true);
