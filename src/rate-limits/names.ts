import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';

const FIRST_NAMES = 1_024;
const BYTES_OF_WORD = 4;
/** Ids of keys, and addresses of IPv4, fit into a slot. */
const SLOT_WORDS = 6;
/** Ends a name. */
const END = 0;
const MOST_BYTES_OF_LETTER = 3;
const BEYOND_ASCII = /[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}/g;
/** Says of a slot that its name lies elsewhere; no byte of a name is this one. */
const ELSEWHERE = 0xff;
/** The words of such a slot: where the name begins, and how many words it has. */
const [START, LENGTH] = [1, 2];
const SLOTS_PER_LONGER = 16;
/** At least half of the index stays empty. */
const PLACES_PER_NUMBER = 2;
const MOST_RECENT = 1_000;
/** One in so many: who comes often soon is among the recent, and a crowd of which each comes once takes few places. */
const REMEMBERED = 8;

/** The same memory as words and as bytes. */
class Memory {
  readonly bytes: Buffer;

  constructor(readonly words: Uint32Array) {
    this.bytes = Buffer.from(words.buffer);
  }
}

/**
 * Names by number, outside of V8's heap: of millions, the strings would be looked through again and again. Each number
 * has a slot, in which its name lies as Modified UTF-8, of which no byte is 0 (Java Virtual Machine Specification,
 * 4.4.7), with zeros behind it; a name that is longer than a slot lies elsewhere.
 */
export class Names {
  private slots = new Memory(new Uint32Array(FIRST_NAMES * SLOT_WORDS));
  private longer = new Memory(new Uint32Array(FIRST_NAMES));
  private longerUsed = 0;
  /** The name that was just written, in so many words. */
  private written = new Memory(new Uint32Array(FIRST_NAMES));
  private writtenWords = 0;
  /** So that nobody can tell which names have the same hash. */
  private readonly seed = randomInt(2 ** 32);
  private readonly multipliers = [randomOdd(), randomOdd()] as const;

  set(number: number, name: string): void {
    this.write(name);
    this.keepWritten(number);
  }

  /** Empty where it was removed. */
  get(number: number): string {
    const slot = number * SLOT_WORDS;
    const isElsewhere = this.slots.words[slot] === ELSEWHERE;
    const { bytes } = isElsewhere ? this.longer : this.slots;
    const start = (isElsewhere ? this.slots.words[slot + START]! : slot) * BYTES_OF_WORD;
    let end = start;
    while (bytes[end] !== END) end++;
    return bytes.toString('latin1', start, end).replace(BEYOND_ASCII, decoded);
  }

  /** Not of the empty name, which looks like none. */
  has(number: number): boolean {
    return this.slots.words[number * SLOT_WORDS] !== END;
  }

  remove(number: number): void {
    this.slots.words[number * SLOT_WORDS] = END;
  }

  /** Writes a name, which can then be kept, or compared with those that are. */
  write(name: string): void {
    const most = wordsOf(name.length * MOST_BYTES_OF_LETTER);
    if (most > this.written.words.length) this.written = new Memory(new Uint32Array(2 * most));
    const { bytes, words } = this.written;
    let at = 0;
    for (let letter = 0; letter < name.length; letter++) {
      const code = name.charCodeAt(letter);
      if (code < 0x80 && code !== END) {
        bytes[at++] = code;
      } else if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6);
        bytes[at++] = 0x80 | (code & 0x3f);
      } else {
        bytes[at++] = 0xe0 | (code >> 12);
        bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
        bytes[at++] = 0x80 | (code & 0x3f);
      }
    }
    do bytes[at++] = END;
    while (at % BYTES_OF_WORD > 0);
    const used = at / BYTES_OF_WORD;
    this.writtenWords = Math.max(used, SLOT_WORDS);
    for (let word = used; word < SLOT_WORDS; word++) words[word] = END;
  }

  /** Keeps the name that was just written. */
  keepWritten(number: number): void {
    const slot = number * SLOT_WORDS;
    if (slot >= this.slots.words.length) {
      this.slots = new Memory(grown(this.slots.words, slot + SLOT_WORDS));
    }
    const { writtenWords } = this;
    if (writtenWords === SLOT_WORDS) {
      copyWords(this.written.words, writtenWords, this.slots.words, slot);
      return;
    }
    const start = this.startOf(slot, writtenWords);
    copyWords(this.written.words, writtenWords, this.longer.words, start);
    this.slots.words[slot] = ELSEWHERE;
    this.slots.words[slot + START] = start;
    this.slots.words[slot + LENGTH] = writtenWords;
  }

  /** Whether the name that was just written is the number's. */
  isWritten(number: number): boolean {
    const { writtenWords } = this;
    let { words } = this.slots;
    let start = number * SLOT_WORDS;
    if (writtenWords > SLOT_WORDS) {
      if (words[start] !== ELSEWHERE || words[start + LENGTH] !== writtenWords) return false;
      start = words[start + START]!;
      words = this.longer.words;
    }
    const written = this.written.words;
    for (let at = 0; at < writtenWords; at++) if (words[start + at] !== written[at]) return false;
    return true;
  }

  hashOfWritten(): number {
    return this.hashOf(this.written.words, 0, this.writtenWords);
  }

  hash(number: number): number {
    const slot = number * SLOT_WORDS;
    const { words } = this.slots;
    if (words[slot] !== ELSEWHERE) return this.hashOf(words, slot, SLOT_WORDS);
    return this.hashOf(this.longer.words, words[slot + START]!, words[slot + LENGTH]!);
  }

  /** What the second multiplier spreads, nobody can tell who does not know it. */
  private hashOf(words: Uint32Array, start: number, length: number): number {
    const [first, second] = this.multipliers;
    let hash = this.seed;
    for (let at = start; at < start + length; at++) {
      hash = Math.imul(hash ^ words[at]!, first);
      hash = Math.imul(hash ^ (hash >>> 15), second);
      hash ^= hash >>> 13;
    }
    return hash >>> 0;
  }

  /** Where there is room for so many words: where the slot's last name lies, or behind all. */
  private startOf(slot: number, length: number): number {
    const { words } = this.slots;
    if (words[slot] === ELSEWHERE && words[slot + LENGTH]! >= length) return words[slot + START]!;
    if (this.longerUsed + length > this.longer.words.length) this.moveLonger(length);
    const start = this.longerUsed;
    this.longerUsed += length;
    return start;
  }

  /** To where there is room for more, without those that are no number's any more. */
  private moveLonger(more: number): void {
    const { words } = this.slots;
    const slots: number[] = [];
    let length = more;
    for (let slot = 0; slot < words.length; slot += SLOT_WORDS) {
      if (words[slot] !== ELSEWHERE) continue;
      slots.push(slot);
      length += words[slot + LENGTH]!;
    }
    // So much that all slots are looked through seldom, however few have a longer name.
    const moved = new Memory(new Uint32Array(2 * length + words.length / SLOTS_PER_LONGER));
    let end = 0;
    for (const slot of slots) {
      const start = words[slot + START]!;
      const name = this.longer.words.subarray(start, start + words[slot + LENGTH]!);
      moved.words.set(name, end);
      words[slot + START] = end;
      end += name.length;
    }
    this.longer = moved;
    this.longerUsed = end;
  }
}

/**
 * Gives each name a number from 0 on, so that what is kept of it can lie in typed arrays. A million take 34 MB outside
 * of V8's heap, where their strings and a `Map` would be 100 for V8 to look through again and again.
 *
 * An index of them is searched from the place on that the hash of a name says (open addressing with linear probing:
 * Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithms L and R).
 */
export class NameNumbers {
  private readonly names = new Names();
  private readonly freed: number[] = [];
  private given = 0;
  /** Numbers, each plus one. */
  private places = new Uint32Array(FIRST_NAMES * PLACES_PER_NUMBER);
  /** Some of those looked up last, which are found ten times as fast as in bytes. */
  private readonly recent = new Map<string, number>();
  private found = 0;
  /** What is asked for is often asked for once more at once. */
  private lastName = '';
  private lastNumber: number | undefined;

  /** How many names have a number. */
  get size(): number {
    return this.given - this.freed.length;
  }

  /** One above the highest number that was given so far. */
  get length(): number {
    return this.given;
  }

  find(name: string): number | undefined {
    if (name === this.lastName && this.lastNumber !== undefined) return this.lastNumber;
    const number = this.recent.get(name) ?? this.searchAndRemember(name);
    this.lastName = name;
    this.lastNumber = number;
    return number;
  }

  /** The name's number; a newcomer is given one that was freed, or the next. */
  add(name: string): number {
    const known = this.find(name);
    if (known !== undefined) return known;
    const number = this.freed.pop() ?? this.next();
    this.names.keepWritten(number);
    this.enter(number);
    this.lastNumber = number;
    return number;
  }

  /** Frees a number that is in use. */
  remove(number: number): void {
    if (this.recent.size > 0) this.recent.delete(this.nameOf(number));
    this.lastNumber = undefined;
    this.vacate(number);
    this.names.remove(number);
    this.freed.push(number);
  }

  /** Which name a number was given to; empty where it was freed. */
  nameOf(number: number): string {
    const name = this.names.get(number);
    if (name !== '') [this.lastName, this.lastNumber] = [name, number];
    return name;
  }

  isInUse(number: number): boolean {
    return this.names.has(number);
  }

  private searchAndRemember(name: string): number | undefined {
    const number = this.search(name);
    if (number === undefined || ++this.found % REMEMBERED > 0) return number;
    if (this.recent.size >= MOST_RECENT) this.recent.clear();
    this.recent.set(name, number);
    return number;
  }

  /** Leaves the name written. */
  private search(name: string): number | undefined {
    const { names, places } = this;
    names.write(name);
    for (let place = this.homeOf(names.hashOfWritten()); ; place = this.after(place)) {
      const number = places[place]! - 1;
      if (number < 0) return undefined;
      if (names.isWritten(number)) return number;
    }
  }

  private next(): number {
    if (this.given * PLACES_PER_NUMBER === this.places.length) {
      this.places = new Uint32Array(this.places.length * 2);
      for (let number = 0; number < this.given; number++) this.enter(number);
    }
    return this.given++;
  }

  private enter(number: number): void {
    let place = this.homeOf(this.names.hash(number));
    while (this.places[place] !== 0) place = this.after(place);
    this.places[place] = number + 1;
  }

  /** Numbers behind the place that is left move up, or they would no longer be found. */
  private vacate(number: number): void {
    const { places, names } = this;
    let empty = this.homeOf(names.hash(number));
    while (places[empty] !== number + 1) empty = this.after(empty);
    for (let next = this.after(empty); places[next] !== 0; next = this.after(next)) {
      const home = this.homeOf(names.hash(places[next]! - 1));
      if (this.distance(home, next) < this.distance(empty, next)) continue;
      places[empty] = places[next]!;
      empty = next;
    }
    places[empty] = 0;
  }

  private homeOf(hash: number): number {
    return hash & (this.places.length - 1);
  }

  private after(place: number): number {
    return (place + 1) & (this.places.length - 1);
  }

  private distance(from: number, to: number): number {
    return (to - from) & (this.places.length - 1);
  }
}

/** How many words a name of so many bytes takes, with its end. */
function wordsOf(bytes: number): number {
  return Math.ceil((bytes + 1) / BYTES_OF_WORD);
}

function copyWords(from: Uint32Array, count: number, to: Uint32Array, start: number): void {
  for (let at = 0; at < count; at++) to[start + at] = from[at]!;
}

function randomOdd(): number {
  return randomInt(2 ** 31) * 2 + 1;
}

function decoded(letter: string): string {
  let code = letter.length === 2 ? letter.charCodeAt(0) & 0x1f : letter.charCodeAt(0) & 0xf;
  for (let at = 1; at < letter.length; at++) code = (code << 6) | (letter.charCodeAt(at) & 0x3f);
  return String.fromCharCode(code);
}

/** The same with room for at least so many cells, which are 0, as many times doubled as it takes. */
export function grown<Cells extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(
  cells: Cells,
  least: number,
): Cells {
  const Kind = cells.constructor as new (length: number) => Cells;
  const larger = new Kind(cells.length * 2 ** Math.ceil(Math.log2(least / cells.length)));
  larger.set(cells);
  return larger;
}

const FIRST_COLLECTION = 4_096;

/** Keeps something under the numbers of names. */
export interface NameHolder {
  /**
   * Sets 1 for each number under which it keeps something. It is asked between two turns of the event loop: what is
   * kept across them has to be told.
   */
  markHeld(marks: Uint8Array): void;
}

/**
 * Names under which several keep something, each in arrays of its own, by the name's number: of a million clients the
 * names lie here once, and not with each of them. A number under which nobody keeps anything is given to another name.
 */
@Injectable()
export class SharedNames {
  private readonly numbers = new NameNumbers();
  /** Weakly, for who is gone keeps nothing. */
  private readonly holders = new Set<WeakRef<NameHolder>>();
  private collectAt = FIRST_COLLECTION;
  private isCollecting = false;

  addHolder(holder: NameHolder): void {
    this.holders.add(new WeakRef(holder));
  }

  find(name: string): number | undefined {
    return this.numbers.find(name);
  }

  /** The name's number, which is the name's until this turn of the event loop is over, and as long as it is held. */
  add(name: string): number {
    const number = this.numbers.add(name);
    if (this.numbers.size >= this.collectAt && !this.isCollecting) {
      this.isCollecting = true;
      setImmediate(() => this.collect());
    }
    return number;
  }

  /** Empty where the number is no name's any more. */
  nameOf(number: number): string {
    return this.numbers.nameOf(number);
  }

  /** How many names have a number, whether it is held or not. */
  get size(): number {
    return this.numbers.size;
  }

  /** Frees what nobody holds. As often as the names have doubled: so each has cost a bounded time. */
  private collect(): void {
    const { numbers, holders } = this;
    const marks = new Uint8Array(numbers.length);
    for (const reference of holders) {
      const holder = reference.deref();
      if (holder === undefined) holders.delete(reference);
      else holder.markHeld(marks);
    }
    for (let number = 0; number < marks.length; number++) {
      if (marks[number] === 0 && numbers.isInUse(number)) numbers.remove(number);
    }
    this.collectAt = Math.max(FIRST_COLLECTION, numbers.size * 2);
    this.isCollecting = false;
  }
}

const FIRST_ROWS = 1_024;

/**
 * Rows of a table that wait for something, each once, in the order in which they came. All of a crowd wait for a while:
 * in V8's heap, they would outlive its young generation.
 */
export class RowQueue {
  private waits = new Uint8Array(FIRST_ROWS);
  /** From `next` to `end`, some of which wait no more. */
  private rows = new Uint32Array(FIRST_ROWS);
  private next = 0;
  private end = 0;
  private count = 0;

  /** How many wait. */
  get size(): number {
    return this.count;
  }

  /** Has a row wait, where it stands if it does already. */
  add(row: number): void {
    if (row >= this.waits.length) this.waits = grown(this.waits, row + 1);
    if (this.waits[row] === 1) return;
    this.waits[row] = 1;
    if (this.end === this.rows.length) this.rows = grown(this.rows, this.end + 1);
    this.rows[this.end++] = row;
    this.count++;
  }

  delete(row: number): void {
    if (row >= this.waits.length || this.waits[row] === 0) return;
    this.waits[row] = 0;
    this.count--;
  }

  /** Takes the first ones, so many at most. */
  take(most: number): number[] {
    const taken: number[] = [];
    for (; taken.length < most && this.next < this.end; this.next++) {
      const row = this.rows[this.next]!;
      if (this.waits[row] === 0) continue;
      this.waits[row] = 0;
      taken.push(row);
    }
    this.count -= taken.length;
    if (this.next * 2 >= this.end) {
      this.rows.copyWithin(0, this.next, this.end);
      this.end -= this.next;
      this.next = 0;
    }
    return taken;
  }
}
