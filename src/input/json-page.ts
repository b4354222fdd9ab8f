import { Page } from './page.js';

/**
 * A page of JSON object texts, built by the database. They are sent as they are unless something
 * uses `items`.
 */
export class JsonPage<Item> extends Page<Item> {
  /**
   * One getter for all pages: with one of its own, each page gets a hidden class of its own, which
   * V8 keeps for long.
   */
  private static readonly ITEMS: PropertyDescriptor & ThisType<JsonPage<unknown>> = {
    // An own property, as that of other pages: a copy ({ ...page }) has it.
    enumerable: true,
    get() {
      return (this.#items ??= this.#texts.map(this.#parse));
    },
  };

  // Private to the language, so that copies of the page do not contain them.
  #items: readonly Item[] | undefined;
  readonly #texts: readonly string[];
  readonly #parse: (text: string) => Item;

  constructor(page: Page<string>, parse: (text: string) => Item) {
    super(undefined, page.next, page.size);
    this.#texts = page.items;
    this.#parse = parse;
    Object.defineProperty(this, 'items', JsonPage.ITEMS);
  }

  get json(): string | undefined {
    return this.#items === undefined ? `[${this.#texts.join()}]` : undefined;
  }
}
