const JSON_TEXT = Symbol('JSON text');

/**
 * A response body that is JSON text already, with the headers that belong to it.
 * A controller returns one where the database has built the text: parsing and writing it again would
 * cost more than reading it, and would round an int64.
 */
export class JsonAnswer {
  /** A copy has it too, as the ClassSerializerInterceptor of a guest makes one: symbols stay what they are. */
  readonly kind = JSON_TEXT;

  constructor(
    readonly text: string,
    readonly headers: Readonly<Record<string, string>> | undefined = undefined,
  ) {}
}

/** Whether it is one, or was. */
export function isJsonAnswer(body: unknown): body is JsonAnswer {
  return typeof body === 'object' && (body as JsonAnswer | null)?.kind === JSON_TEXT;
}
