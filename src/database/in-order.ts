import { setImmediate as nextTurn } from 'node:timers/promises';
import { pauseFor } from './in-batches.js';

/** So many are sorted and written at once, which takes some milliseconds. */
const PART = 500;
/** So many are put in their places at once. */
const STRIDE = 5_000;
/** Of so many of each part is the middle one about in the middle. */
const SAMPLES_OF_PART = 8;

interface Named<Item> {
  item: Item;
  name: string;
}

/**
 * Does something to many items in the order of their names, to a part at a time and with a pause behind each: a
 * database whose rows are written in the order of their index writes each page once, instead of once for each row.
 * @param work is given a part and its names, and is done with it before it is given the next
 * @param stop ends it after the part that is under way
 * @returns whether all were done
 */
export async function eachInOrder<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  work: (part: Item[], names: string[]) => Promise<void>,
  stop?: AbortSignal,
): Promise<boolean> {
  for await (const part of inOrder(items, nameOf)) {
    if (stop?.aborted) return false;
    const startedAt = performance.now();
    await work(
      part.map(({ item }) => item),
      part.map(({ name }) => name),
    );
    await pauseFor(performance.now() - startedAt);
  }
  return true;
}

/** Items in the order of their names, in parts, each sorted when it is asked for; meanwhile others have their turn. */
async function* inOrder<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): AsyncGenerator<Named<Item>[]> {
  const borders = bordersOf(items, nameOf);
  const parts = Array.from({ length: borders.length + 1 }, (): Item[] => []);
  for (let start = 0; start < items.length; start += STRIDE) {
    if (start > 0) await nextTurn();
    for (const item of items.slice(start, start + STRIDE)) {
      parts[placeOf(nameOf(item), borders)]!.push(item);
    }
  }
  for (const part of parts) if (part.length > 0) yield sorted(part, nameOf);
}

/** A name may be made when it is asked for: once for each item, not for each comparison. */
function sorted<Item>(items: readonly Item[], nameOf: (item: Item) => string): Named<Item>[] {
  const named = items.map((item) => ({ item, name: nameOf(item) }));
  return named.sort((one, other) => compare(one.name, other.name));
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Names that part all of them into parts of about the same size. */
function bordersOf<Item>(items: readonly Item[], nameOf: (item: Item) => string): string[] {
  const parts = Math.ceil(items.length / PART);
  const stride = Math.max(1, Math.floor(items.length / (parts * SAMPLES_OF_PART)));
  const samples: string[] = [];
  for (let at = 0; at < items.length; at += stride) samples.push(nameOf(items[at]!));
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
