/** After how long it is asked again, where the answer does not say. */
const WAIT_SECONDS = 10;

/** The document that the page shows. While there is none, the page says why, and when it asks again. */
export async function loadDocument() {
  for (;;) {
    const answer = await fetch('/openapi.json').catch(() => undefined);
    // What comes may be a proxy's page, or end in its middle.
    const spec = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
    if (spec !== undefined) return spec;
    const seconds = secondsIn(answer?.headers.get('retry-after'));
    document.querySelector('.loading').textContent =
      `${reasonOf(answer)}: trying again in ${seconds} s`;
    await new Promise((resume) => setTimeout(resume, seconds * 1000));
  }
}

function reasonOf(answer) {
  if (answer === undefined) return 'The service cannot be reached';
  return answer.status === 429 ? 'Too many requests' : 'The reference cannot be loaded now';
}

function secondsIn(retryAfter) {
  return retryAfter > 0 ? Number(retryAfter) : WAIT_SECONDS;
}
