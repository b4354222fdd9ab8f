import type { ApiPromise, WithResponse } from './api-promise.js';
import { nextCursor } from './link.js';
import type { Pet } from './models.js';

/**
 * The pets of all pages, in the order of their IDs. Nothing is requested before the list is used.
 *
 * - `await list` resolves to the first page.
 * - `for await (const pet of list)` iterates over all pets, and requests each page when it is
 *   needed.
 */
export class PetList implements AsyncIterable<Pet>, PromiseLike<Pet[]> {
  private firstPage: ApiPromise<Pet[]> | undefined;

  /** @internal */
  constructor(private readonly fetchPage: (cursor: string | undefined) => ApiPromise<Pet[]>) {}

  /** Requests the first page. Further calls return the same page. */
  then<Fulfilled = Pet[], Rejected = never>(
    onFulfilled?: ((pets: Pet[]) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.first().then(onFulfilled, onRejected);
  }

  catch<Rejected = never>(
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Pet[] | Rejected> {
    return this.first().catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Pet[]> {
    return this.first().finally(onFinally);
  }

  /** @returns the first page together with the HTTP response. */
  withResponse(): Promise<WithResponse<Pet[]>> {
    return this.first().withResponse();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Pet, void, undefined> {
    for await (const pets of this.pages()) yield* pets;
  }

  /** Iterates over the pages. Each page is an array of pets. */
  async *pages(): AsyncGenerator<Pet[], void, undefined> {
    let cursor: string | undefined;
    do {
      const { data, response } = await this.fetchPage(cursor).withResponse();
      yield data;
      const next = nextCursor(response.headers);
      if (next !== undefined && next === cursor) {
        throw new Error('The link to the next page leads to the same page');
      }
      cursor = next;
    } while (cursor !== undefined);
  }

  /**
   * Collects pets into an array, and requests no more pages than needed.
   *
   * @param options.limit maximum number of pets. Default: all pets, with one request per page
   */
  async all({ limit = Infinity }: { limit?: number | undefined } = {}): Promise<Pet[]> {
    if (Number.isNaN(limit) || limit < 0) {
      throw new RangeError(`limit must not be negative, but is ${limit}`);
    }
    const collected: Pet[] = [];
    if (limit === 0) return collected;
    for await (const pets of this.pages()) {
      collected.push(...pets.slice(0, limit - collected.length));
      if (collected.length >= limit) break;
    }
    return collected;
  }

  private first(): ApiPromise<Pet[]> {
    return (this.firstPage ??= this.fetchPage(undefined));
  }
}
