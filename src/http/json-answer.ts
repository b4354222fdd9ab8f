import { Expose } from 'class-transformer';
import { parse } from 'lossless-json';

const JSON_TEXT = Symbol('JSON text');

export type AnswerHeader = readonly [name: string, value: string];

/** A response body that is JSON text already, with the headers that belong to it. */
export class JsonAnswer {
  @Expose()
  readonly kind = JSON_TEXT;

  @Expose()
  readonly text: string;

  @Expose()
  readonly headers: readonly AnswerHeader[];

  constructor(text: string, headers: readonly AnswerHeader[] = []) {
    this.text = text;
    this.headers = headers;
  }

  toJSON(): unknown {
    return parse(this.text);
  }
}

export function isJsonAnswer(body: unknown): body is JsonAnswer {
  return typeof body === 'object' && (body as JsonAnswer | null)?.kind === JSON_TEXT;
}
