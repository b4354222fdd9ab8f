import Table from 'cli-table3';

/** A failure that the printed result describes: exit code 1. */
export class FailedError extends Error {}

/** Results go to standard output, errors to standard error in one line each. */
export class Output {
  /** @param raw prints a text as it is */
  constructor(
    readonly raw: (text: string) => void,
    private readonly err: (text: string) => unknown = process.stderr.write.bind(process.stderr),
  ) {}

  /** Prints one JSON value with `--json`, otherwise the text. */
  print({ value, text }: { value: unknown; text: string }, asJson = false): void {
    this.raw(asJson ? `${JSON.stringify(value, null, 2)}\n` : `${text}\n`);
  }

  /** Prints one line. Characters that a terminal would interpret are escaped. */
  error(message: string): void {
    const escape = (text: string) => `\\u${text.codePointAt(0)!.toString(16).padStart(4, '0')}`;
    const line = message
      .trim()
      .replace(/\s*\n\s*/g, ' ')
      .replace(/(ps[ka]_)\w{20,}/g, '$1...')
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escape);
    this.err(`${line}\n`);
  }
}

const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right ' +
  'left left-mid mid mid-mid right right-mid';

/**
 * Aligns rows in columns, without borders.
 * @param head the titles, separated by commas
 */
export function table(head: string, rows: readonly (string | number)[][]): string {
  const none = Object.fromEntries(BORDERS.split(' ').map((name) => [name, '']));
  const chars = { ...none, middle: '  ' };
  const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };
  const drawn = new Table({ chars, style });
  drawn.push(head.split(','), ...rows);
  return drawn.toString().replace(/ +$/gm, '');
}
