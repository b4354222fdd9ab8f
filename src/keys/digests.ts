import { hash } from 'node:crypto';
import { grown } from '../rate-limits/names.js';

const FIRST_ROWS = 1_024;
const LETTERS_PER_WORD = 5;
const WORDS = 6;
const BITS_PER_LETTER = 6;
/** At least half of the index stays empty. */
const PLACES_PER_ROW = 2;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Uint8Array(128);
for (let value = 0; value < ALPHABET.length; value++) VALUES[ALPHABET.charCodeAt(value)] = value;

/** What is stored of a key, and looked up: its SHA-256, base64url. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/**
 * Rows by the digests of keys, SHA-256 as base64url, of each the first 180 bits: whom a guessed key stands for, be it
 * any of a million, is found with a probability of 2^-160 (RFC 6749, 10.10). They spread evenly, so they are their own
 * hashes: only digests of keys that were issued come in, which nobody chooses.
 *
 * An index is searched from the place on that the digest says (open addressing with linear probing: Knuth, The Art of
 * Computer Programming, volume 3, section 6.4, algorithms L and R).
 */
export class Digests {
  private words = new Uint32Array(FIRST_ROWS * WORDS);
  /** Rows, each plus one. */
  private places = new Uint32Array(FIRST_ROWS * PLACES_PER_ROW);
  private rowCount = 0;
  /** Of the digest that was just looked for. */
  private readonly sought = new Uint32Array(WORDS);

  /** How many there are, in rows from 0 on. */
  get size(): number {
    return this.rowCount;
  }

  find(digest: string): number | undefined {
    this.seek(digest);
    const { places } = this;
    for (let place = this.homeOf(this.sought[0]!); ; place = this.after(place)) {
      const row = places[place]! - 1;
      if (row < 0) return undefined;
      if (this.isSought(row)) return row;
    }
  }

  /** Puts one that is new into the next row, and returns that. */
  add(digest: string): number {
    if (this.rowCount * PLACES_PER_ROW === this.places.length) this.grow();
    const row = this.rowCount++;
    this.put(row, digest);
    return row;
  }

  /** Puts one that is new into a row in place of another. */
  replace(row: number, digest: string): void {
    this.vacate(row);
    this.put(row, digest);
  }

  private seek(digest: string): void {
    let letter = 0;
    for (let word = 0; word < WORDS; word++) {
      let bits = 0;
      for (const end = letter + LETTERS_PER_WORD; letter < end; letter++) {
        bits = (bits << BITS_PER_LETTER) | VALUES[digest.charCodeAt(letter)]!;
      }
      this.sought[word] = bits;
    }
  }

  private isSought(row: number): boolean {
    const { words, sought } = this;
    const start = row * WORDS;
    for (let word = 0; word < WORDS; word++) {
      if (words[start + word] !== sought[word]) return false;
    }
    return true;
  }

  private put(row: number, digest: string): void {
    this.seek(digest);
    this.words.set(this.sought, row * WORDS);
    this.enter(row);
  }

  private grow(): void {
    this.words = grown(this.words, this.words.length + 1);
    this.places = new Uint32Array(this.places.length * 2);
    for (let row = 0; row < this.rowCount; row++) this.enter(row);
  }

  private enter(row: number): void {
    let place = this.homeOf(this.words[row * WORDS]!);
    while (this.places[place] !== 0) place = this.after(place);
    this.places[place] = row + 1;
  }

  /** Rows behind the place that is left move up, or they would no longer be found. */
  private vacate(row: number): void {
    const { places, words } = this;
    let empty = this.homeOf(words[row * WORDS]!);
    while (places[empty] !== row + 1) empty = this.after(empty);
    for (let next = this.after(empty); places[next] !== 0; next = this.after(next)) {
      const home = this.homeOf(words[(places[next]! - 1) * WORDS]!);
      if (this.distance(home, next) < this.distance(empty, next)) continue;
      places[empty] = places[next]!;
      empty = next;
    }
    places[empty] = 0;
  }

  private homeOf(firstWord: number): number {
    return firstWord & (this.places.length - 1);
  }

  private after(place: number): number {
    return (place + 1) & (this.places.length - 1);
  }

  private distance(from: number, to: number): number {
    return (to - from) & (this.places.length - 1);
  }
}
