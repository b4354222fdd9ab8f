// Before the scripts that it looks after: where one of them cannot be had, as of a reader who asks too often, the page
// says so and is loaded again.
const WAIT_SECONDS = 10;

function tell() {
  document.querySelector('.loading').textContent =
    `A part of this page cannot be loaded now: trying again in ${WAIT_SECONDS} s`;
  setTimeout(() => location.reload(), WAIT_SECONDS * 1000);
}

const onError = ({ target }) => {
  if (!(target instanceof HTMLScriptElement)) return;
  removeEventListener('error', onError, true);
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', tell);
  else tell();
};
// Of an element it does not bubble.
addEventListener('error', onError, true);
