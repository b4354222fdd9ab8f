import type { Client } from '../../test/support/client.js';

/** The exact text of every pet, page by page. */
export async function listAll(client: Client): Promise<string[]> {
  const pets: string[] = [];
  let next: string | undefined = '/v1/pets?limit=100';
  while (next !== undefined) {
    const { status, text, headers } = await client.get(next);
    if (status !== 200) throw new Error(`the list responds with ${status}: ${text}`);
    // Names are the only members with text, and JSON escapes the quotes in them.
    pets.push(...(text.slice(1, -1).match(/\{(?:"(?:[^"\\]|\\.)*"|[^"}])*\}/g) ?? []));
    const url: string | undefined = /<([^>]+)>; rel="next"/.exec(String(headers.link ?? ''))?.[1];
    next = url === undefined ? undefined : new URL(url).pathname + new URL(url).search;
  }
  return pets;
}
