import { nextCursor } from './link.js';
import type { Pet } from './models.js';

export interface PetPage {
  pets: Pet[];
  headers: Headers;
}

/** Animals in the order of their ids: one by one, or page by page. Asks for a page when it is needed. */
export class PetList implements AsyncIterable<Pet> {
  constructor(private readonly fetchPage: (cursor: string | undefined) => Promise<PetPage>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Pet, void, undefined> {
    for await (const pets of this.pages()) yield* pets;
  }

  async *pages(): AsyncGenerator<Pet[], void, undefined> {
    let cursor: string | undefined;
    do {
      const { pets, headers } = await this.fetchPage(cursor);
      yield pets;
      const next = nextCursor(headers);
      if (next !== undefined && next === cursor) throw new Error('The next page is the same page');
      cursor = next;
    } while (cursor !== undefined);
  }
}
