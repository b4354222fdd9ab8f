import stringWidth from 'string-width';
import { withoutKeys } from '../core/errors/api-error.js';

/** A failure that the printed result describes: exit code 1. */
export class FailedError extends Error {}

type Done = (error?: Error | null) => void;
/** Writes to standard output. @param done is called when the text left the process, or failed to */
type Write = (text: string | Uint8Array, done?: Done) => unknown;

/** The output of a command. */
export interface Printed {
  /** Printed as JSON with `--json`. */
  value: unknown;
  text: string;
  /** A key or token. A script gets it alone on standard output, and the text on standard error. */
  secret?: string;
  /** The command that withdraws the secret if it cannot be printed. */
  undo?: string;
  /** A warning for standard error. */
  note?: string | undefined;
}

/** Results go to standard output, errors to standard error in one line each. */
export class Output {
  /**
   * @param raw prints a text as it is
   * @param isTerminal whether a person reads standard output
   */
  constructor(
    readonly raw: Write,
    private readonly err: (text: string) => unknown = process.stderr.write.bind(process.stderr),
    readonly isTerminal = false,
  ) {}

  print({ value, text, secret, undo, note }: Printed, asJson = false): void {
    if (note !== undefined) this.note(note);
    const done: Done = (error) => {
      if (!error || undo === undefined) return;
      this.error(`error: the secret was issued, but could not be printed; run ${undo}`);
    };
    if (asJson) this.raw(`${JSON.stringify(value, null, 2)}\n`, done);
    else if (secret === undefined) this.raw(`${text}\n`);
    else if (this.isTerminal) this.raw(`${secret}\n\n${text}\n`, done);
    else {
      this.raw(`${secret}\n`, done);
      this.note(text);
    }
  }

  /** Prints a text for people that is no result. */
  note(text: string): void {
    this.err(`${text}\n`);
  }

  /** Replaces the line that shows the progress on a terminal. */
  progress(text: string): void {
    if (this.isTerminal) this.err(`\r${text}\x1b[K`);
  }

  /**
   * Prints a stream as fast as its reader takes it.
   * @returns whether all of it was written; `main.ts` reports the error
   */
  async pipe(stream: AsyncIterable<string | Uint8Array>): Promise<boolean> {
    for await (const chunk of stream) {
      const error = await new Promise((resolve: Done) => void this.raw(chunk, resolve));
      if (error) return false;
    }
    return true;
  }

  /** Prints one line. Characters that a terminal would interpret are escaped. */
  error(message: string): void {
    const escape = (text: string) => `\\u${text.codePointAt(0)!.toString(16).padStart(4, '0')}`;
    const line = withoutKeys(message)
      .trim()
      .replace(/\s*\n\s*/g, ' ')
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escape);
    this.err(`${line}\n`);
  }
}

/**
 * Aligns rows in columns, without borders.
 * @param head the titles, separated by commas
 */
export function table(head: string, rows: readonly (string | number)[][]): string {
  const lines = [head.split(','), ...rows].map((row) => row.map(String));
  const widths: number[] = [];
  for (const [column, cell] of lines.flatMap((line) => [...line.entries()])) {
    widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
  }
  const pad = (cell: string, column: number) =>
    cell + ' '.repeat(widths[column]! - stringWidth(cell));
  // Only the last cell of a row may have several lines.
  const indent = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return lines
    .map((line) =>
      line
        .map(pad)
        .join('  ')
        .trimEnd()
        .replaceAll('\n', `\n${' '.repeat(indent)}`),
    )
    .join('\n');
}
