import Table from 'cli-table3';

/** Control and bidirectional characters, which a terminal would interpret. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** A failure that the printed result describes: exit code 1. */
export class FailedError extends Error {}

/** Results go to standard output, errors to standard error in one line each. */
export class Output {
  constructor(
    private readonly out: (text: string) => unknown,
    private readonly err: (text: string) => unknown = process.stderr.write.bind(process.stderr),
  ) {}

  /** Prints one JSON value with `--json`, otherwise the text. */
  print({ value, text }: { value: unknown; text: string }, asJson = false): void {
    this.out(asJson ? `${JSON.stringify(value, null, 2)}\n` : `${text}\n`);
  }

  raw(text: string): void {
    this.out(text);
  }

  /** Prints one line, with control characters escaped. */
  error(message: string): void {
    const escape = (text: string) => `\\u${text.codePointAt(0)!.toString(16).padStart(4, '0')}`;
    const line = message
      .trim()
      .replace(/\s*\n\s*/g, ' ')
      .replace(/(ps[ka]_)\w{20,}/g, '$1...');
    this.err(`${line.replace(UNPRINTABLE, escape)}\n`);
  }
}

/** Aligns rows in columns, without borders. */
export function table(head: readonly string[], rows: readonly (string | number)[][]): string {
  const sides = ['top', 'bottom', 'left', 'right', 'mid'];
  const none = sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]);
  const chars = { ...Object.fromEntries(none.map((name) => [name, ''])), middle: '  ' };
  const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };
  const drawn = new Table({ chars, style });
  drawn.push([...head], ...rows);
  return drawn.toString().replace(/ +$/gm, '');
}
