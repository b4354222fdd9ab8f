import type { Parameters } from 'fast-check';

/** What a part of the proof is asked to do. */
export interface Run {
  seed: number;
  /** The short form, for CI. */
  isShort: boolean;
  /** Replays the one case at this place among the cases of the seed. */
  path?: string | undefined;
  /** Prints one line of progress. */
  say(line: string): void;
}

export interface Result {
  /** What was tried, such as "100,000 requests". */
  tried: string;
  /** Further figures, in the order in which they are printed. */
  figures: Record<string, number | string>;
  /** What was found, with the events that lead to it. */
  faults: string[];
  /** Place of the smallest failing case, for `--path`. */
  path?: string;
}

export interface Part {
  name: string;
  /** What it does with the service, for docs/reliability.md. */
  tries: string;
  /** What must hold then. */
  holds: string;
  /** Programs of this machine that the part runs. */
  needs: readonly ('postgres' | 'redis')[];
  run(run: Run): Promise<Result>;
}

/** The parameters of fast-check for a run of so many cases. */
export function casesOf({ seed, path }: Run, numRuns: number): Parameters<unknown> {
  if (path === undefined) return { seed, numRuns };
  return { seed, path, numRuns: 1, endOnFailure: true };
}

export const inWords = (count: number): string => count.toLocaleString('en-US');
