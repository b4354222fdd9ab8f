import { padded, widthOf } from './width.js';

/** How a command speaks: data on standard output, one line of complaint on standard error. */
export class Output {
  /** Of what is shown only once: what to do where it cannot be written. */
  cureOfLoss: string | undefined;

  constructor(
    private readonly out: (text: string) => void = (text) => void process.stdout.write(text),
    private readonly err: (text: string) => void = (text) => void process.stderr.write(text),
    /** Those of a terminal; `NO_COLOR` and a dumb one have none. */
    readonly hasColours = process.stdout.isTTY && process.stdout.hasColors(),
  ) {}

  /** With `--json` one JSON value and nothing else; else what a person reads. */
  print(value: unknown, asJson: boolean | undefined, text: (() => string) | string): void {
    if (asJson) this.out(`${JSON.stringify(value, null, 2)}\n`);
    else this.out(`${typeof text === 'string' ? text : text()}\n`);
  }

  raw(text: string): void {
    this.out(text);
  }

  complain(message: string): void {
    this.err(`${message.trim().replace(/\s*\n\s*/g, ' ')}\n`);
  }

  /** For what is more than one line by nature: the faults of a configuration. */
  complainInFull(message: string): void {
    this.err(`${message}\n`);
  }
}

/** Wrong arguments: exit 2. */
export class UsageError extends Error {}

/** Rows under their headings, in columns as wide as they have to be. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_heading, column) =>
    all.reduce((widest, row) => Math.max(widest, widthOf(row[column]!)), 0),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) => padded(cell, widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
