import { hash } from 'node:crypto';
import { Limits } from '../rate-limits/limits.js';
import { grown, type NameHolder, type SharedNames } from '../rate-limits/names.js';
import type { PlanName } from '../rate-limits/plan.js';
import type { Caller } from './caller.js';

const FIRST_ROWS = 1_024;
/** From then on few newcomers are let in. */
const NEARLY_FULL_SHARE = 15 / 16;
/** One in so many: who comes often soon is, and a crowd of which each comes once pushes out few. */
const LET_IN = 8;
/**
 * So many have a few hundred bytes each, and fit into 16 bits. Of more there is hardly any use, and everybody is
 * forgotten.
 */
const MAX_KINDS = 10_000;

/** What many callers have in common. */
export class CallerKind {
  readonly scopes: ReadonlySet<string>;
  readonly limits: Limits;
  /** No other has the same. */
  readonly name: string;

  /** @param scopes with a space between them */
  constructor(
    readonly plan: PlanName,
    scopes: string,
    perMinute: number,
    perDay: number,
  ) {
    this.scopes = new Set(scopes.split(' '));
    this.limits = new Limits(perMinute, perDay);
    this.name = `${plan}/${perMinute}/${perDay}/${scopes}`;
  }
}

/** A caller, and the state of its key that it was made of. */
export class KnownCaller implements Caller {
  readonly plan: PlanName;
  readonly scopes: ReadonlySet<string>;
  readonly quota: Caller['quota'];
  // Guests that answer with their caller are not to show what only ours know.
  readonly #kind: CallerKind;
  readonly #changedAt: number;

  /**
   * @param expiresAtMs Unix milliseconds; Infinity where it does not
   * @param changedAt of the key's states, each has another
   */
  constructor(
    readonly keyId: string,
    readonly clientId: string,
    kind: CallerKind,
    readonly expiresAtMs: number,
    changedAt: number,
  ) {
    this.#kind = kind;
    this.#changedAt = changedAt;
    this.plan = kind.plan;
    this.scopes = kind.scopes;
    this.quota = { subject: clientId, plan: kind.plan, limits: kind.limits };
  }

  get kind(): CallerKind {
    return this.#kind;
  }

  get changedAt(): number {
    return this.#changedAt;
  }
}

/**
 * Callers by the digests of their keys, in typed arrays: a million take some 60 MB, and V8 has nothing to look
 * through. Where it is full, newcomers take the places of those that have been here longest.
 */
export class CallerTable implements NameHolder {
  private digests = new Digests();
  /** Of their names. */
  private keyNumbers = new Uint32Array(FIRST_ROWS);
  private clientNumbers = new Uint32Array(FIRST_ROWS);
  private kindNumbers = new Uint16Array(FIRST_ROWS);
  private expiresAtMs = new Float64Array(FIRST_ROWS);
  private changedAt = new Float64Array(FIRST_ROWS);
  private kinds: CallerKind[] = [];
  private readonly numbersOfKinds = new Map<string, number>();
  private nextToForget = 0;

  constructor(
    private readonly capacity: number,
    private readonly names: SharedNames,
  ) {
    names.addHolder(this);
  }

  get(digest: string): KnownCaller | undefined {
    const row = this.digests.find(digest);
    if (row === undefined) return undefined;
    const key = this.keyNumbers[row]!;
    const client = this.clientNumbers[row]!;
    const keyId = this.names.nameOf(key);
    const clientId = client === key ? keyId : this.names.nameOf(client);
    const kind = this.kinds[this.kindNumbers[row]!]!;
    return new KnownCaller(keyId, clientId, kind, this.expiresAtMs[row]!, this.changedAt[row]!);
  }

  set(digest: string, caller: KnownCaller): void {
    const { keyId, clientId } = caller;
    const kind = this.numberOf(caller.kind);
    const row = this.rowOf(digest);
    this.keyNumbers[row] = this.names.add(keyId);
    this.clientNumbers[row] = this.names.add(clientId);
    this.kindNumbers[row] = kind;
    this.expiresAtMs[row] = caller.expiresAtMs;
    this.changedAt[row] = caller.changedAt;
  }

  /** Whether a newcomer is to be remembered. */
  letsIn(): boolean {
    return this.digests.size < this.capacity * NEARLY_FULL_SHARE || Math.random() * LET_IN < 1;
  }

  clear(): void {
    this.digests = new Digests();
    this.kinds = [];
    this.numbersOfKinds.clear();
    this.nextToForget = 0;
  }

  markHeld(marks: Uint8Array): void {
    for (let row = 0; row < this.digests.size; row++) {
      marks[this.keyNumbers[row]!] = 1;
      marks[this.clientNumbers[row]!] = 1;
    }
  }

  private rowOf(digest: string): number {
    const known = this.digests.find(digest);
    if (known !== undefined) return known;
    if (this.digests.size >= this.capacity) {
      const forgotten = this.nextToForget;
      this.nextToForget = (forgotten + 1) % this.capacity;
      this.digests.replace(forgotten, digest);
      return forgotten;
    }
    const row = this.digests.add(digest);
    if (row === this.kindNumbers.length) {
      this.keyNumbers = grown(this.keyNumbers, row + 1);
      this.clientNumbers = grown(this.clientNumbers, row + 1);
      this.kindNumbers = grown(this.kindNumbers, row + 1);
      this.expiresAtMs = grown(this.expiresAtMs, row + 1);
      this.changedAt = grown(this.changedAt, row + 1);
    }
    return row;
  }

  private numberOf(kind: CallerKind): number {
    const known = this.numbersOfKinds.get(kind.name);
    if (known !== undefined) return known;
    if (this.kinds.length >= MAX_KINDS) this.clear();
    this.numbersOfKinds.set(kind.name, this.kinds.length);
    return this.kinds.push(kind) - 1;
  }
}

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
