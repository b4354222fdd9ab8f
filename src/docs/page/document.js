const RETRY_SECONDS = 10;

/** Loads the document. On failure, the page shows the reason and retries. */
export async function loadDocument() {
  for (;;) {
    const response = await fetch('/openapi.json').catch(() => undefined);
    // The response may be the page of a proxy, or incomplete.
    const spec = response?.ok ? await response.json().catch(() => undefined) : undefined;
    if (spec !== undefined) return spec;
    const seconds = Number(response?.headers.get('retry-after')) || RETRY_SECONDS;
    document.querySelector('.loading').textContent =
      `${reason(response)}: retrying in ${seconds} s`;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

function reason(response) {
  if (response === undefined) return 'The service cannot be reached';
  return response.status === 429 ? 'Too many requests' : 'The reference cannot be loaded';
}
