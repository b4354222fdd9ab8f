// Before the scripts that it looks after: where one of them cannot be had, as for a reader who asks too often, the page
// says so, and is loaded again once it can.
const WAIT_SECONDS = 10;
const ours = new URL('.', document.currentScript.src).href;

async function loadAgainWith(script) {
  for (let hasWaited = false; ; hasWaited = true) {
    // Past what the browser remembers, which may be what is wrong.
    const answer = await fetch(script, { cache: 'reload' }).catch(() => undefined);
    if (answer?.ok && hasWaited) return location.reload();
    const seconds = Number(answer?.headers.get('retry-after')) || WAIT_SECONDS;
    document.querySelector('#swagger-ui > .loading').textContent =
      `A part of this page cannot be loaded now: trying again in ${seconds} s`;
    await new Promise((resume) => setTimeout(resume, seconds * 1000));
  }
}

const onError = ({ target }) => {
  // Extensions of a browser have scripts of their own.
  if (!(target instanceof HTMLScriptElement) || !target.src.startsWith(ours)) return;
  removeEventListener('error', onError, true);
  const { src } = target;
  if (document.readyState !== 'loading') void loadAgainWith(src);
  else addEventListener('DOMContentLoaded', () => loadAgainWith(src));
};
// Of an element it does not bubble.
addEventListener('error', onError, true);
