import { setImmediate as nextTurn } from 'node:timers/promises';
import { pauseFor } from './in-batches.js';

/** So many are sorted and written at once, which takes some milliseconds. */
const PART = 500;
/** So many are put in their places at once. */
const STRIDE = 5_000;
/** Of so many of each part is the middle one about in the middle. */
const SAMPLES_OF_PART = 8;

/**
 * Does something to many rows in the order of their names, to a part at a time and with a pause behind each: a
 * database whose rows are written in the order of their index writes each page once, instead of once for each row.
 * @param rows the number of each, outside of V8's heap, where millions would outlive its young generation
 * @param work is given a part and its names, and is done with it before it is given the next
 * @param stop ends it after the part that is under way
 * @returns whether all were done
 */
export async function eachInOrder(
  rows: Uint32Array,
  nameOf: (row: number) => string,
  work: (part: number[], names: string[]) => Promise<void>,
  stop?: AbortSignal,
): Promise<boolean> {
  for await (const part of inOrder(rows, nameOf)) {
    if (stop?.aborted) return false;
    const startedAt = performance.now();
    await work(
      part.map(({ row }) => row),
      part.map(({ name }) => name),
    );
    await pauseFor(performance.now() - startedAt);
  }
  return true;
}

interface Named {
  row: number;
  name: string;
}

/** Rows in the order of their names, in parts, each sorted when it is asked for; meanwhile others have their turn. */
async function* inOrder(
  rows: Uint32Array,
  nameOf: (row: number) => string,
): AsyncGenerator<Named[]> {
  const borders = bordersOf(rows, nameOf);
  const places = new Uint32Array(rows.length);
  const counts = new Uint32Array(borders.length + 1);
  for (let at = 0; at < rows.length; at++) {
    if (at > 0 && at % STRIDE === 0) await nextTurn();
    const place = placeOf(nameOf(rows[at]!), borders);
    places[at] = place;
    counts[place]!++;
  }
  for (const part of partsOf(rows, places, counts)) if (part.length > 0) yield sorted(part, nameOf);
}

/** The rows of each place, as they came (Knuth, The Art of Computer Programming, volume 3, section 5.2, algorithm D). */
function partsOf(rows: Uint32Array, places: Uint32Array, counts: Uint32Array): Uint32Array[] {
  const inPlace = new Uint32Array(rows.length);
  let end = 0;
  const parts = Array.from(counts, (count) => inPlace.subarray(end, (end += count)));
  for (let at = rows.length - 1; at >= 0; at--) {
    const place = places[at]!;
    parts[place]![--counts[place]!] = rows[at]!;
  }
  return parts;
}

/** A name may be made when it is asked for: once for each row, not for each comparison. */
function sorted(rows: Uint32Array, nameOf: (row: number) => string): Named[] {
  const named = Array.from(rows, (row) => ({ row, name: nameOf(row) }));
  return named.sort((one, other) => compare(one.name, other.name));
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Names that part all of them into parts of about the same size. */
function bordersOf(rows: Uint32Array, nameOf: (row: number) => string): string[] {
  const parts = Math.ceil(rows.length / PART);
  const stride = Math.max(1, Math.floor(rows.length / (parts * SAMPLES_OF_PART)));
  const samples: string[] = [];
  for (let at = 0; at < rows.length; at += stride) samples.push(nameOf(rows[at]!));
  samples.sort();
  const step = samples.length / parts;
  return Array.from({ length: Math.max(0, parts - 1) }, (_none, part) => {
    return samples[Math.floor((part + 1) * step)]!;
  });
}

/** How many of the borders are not above the name. */
function placeOf(name: string, borders: readonly string[]): number {
  let [low, high] = [0, borders.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (borders[middle]! <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}
