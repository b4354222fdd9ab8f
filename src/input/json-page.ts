import type { Cursor, CursorKey } from './cursor.js';
import { cursorAfter, Page, type PageQuery } from './page.js';

/** A page of JSON object texts, built by the database. They are sent as they are unless something uses `items`. */
export class JsonPage<Item> extends Page<Item> {
  /** One getter for all pages: with one of its own, each page gets a hidden class of its own, which V8 keeps for long. */
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

  private constructor(
    texts: readonly string[],
    next: Cursor | undefined,
    parse: (text: string) => Item,
  ) {
    super(undefined, next);
    this.#texts = texts;
    this.#parse = parse;
    Object.defineProperty(this, 'items', JsonPage.ITEMS);
  }

  /** @see Page.of */
  static fromTexts<Row>(
    texts: readonly string[],
    query: PageQuery,
    parse: (text: string) => Row,
    keyOf: (text: string) => CursorKey | readonly CursorKey[],
  ): Page<Row> {
    const next = cursorAfter(texts, query, keyOf);
    return new JsonPage(texts.slice(0, query.limit), next, parse);
  }

  override get json(): string | undefined {
    return this.#items === undefined ? `[${this.#texts.join()}]` : undefined;
  }

  override get length(): number {
    return this.#texts.length;
  }
}
