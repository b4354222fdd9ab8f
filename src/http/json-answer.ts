/**
 * A response body that is JSON text already, with the headers that belong to it.
 * A controller returns one where the database has built the text: parsing and writing it again would
 * cost more than reading it, and would round an int64.
 */
export class JsonAnswer {
  constructor(
    readonly text: string,
    readonly headers: Readonly<Record<string, string>> | undefined = undefined,
  ) {}
}
