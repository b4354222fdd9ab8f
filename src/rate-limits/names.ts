import { randomInt } from 'node:crypto';

const FIRST_NAMES = 1_024;
const FIRST_BYTES = 32_768;
/** Ends a name. */
const END = 0;
const MOST_BYTES_OF_LETTER = 3;
/** What can be taken by names of about the same length. */
const ROOM_UNIT = 4;
const BEYOND_ASCII = /[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}/g;
/** At least half of the index stays empty. */
const PLACES_PER_NUMBER = 2;
const MOST_RECENT = 1_000;
/** One in so many: who comes often soon is among the recent, and a crowd of which each comes once takes few places. */
const REMEMBERED = 8;

/**
 * Names by number, outside of V8's heap: of millions, the strings would be looked through again and again. They lie in
 * one row of bytes, as Modified UTF-8, in which none is 0 (Java Virtual Machine Specification, 4.4.7).
 */
export class Names {
  private bytes = new Uint8Array(FIRST_BYTES);
  private bytesUsed = 0;
  /** Of each number, where its name begins, and how many bytes there are for it. */
  private starts = new Uint32Array(FIRST_NAMES);
  private rooms = new Uint32Array(FIRST_NAMES);

  set(number: number, name: string): void {
    this.write(name);
    this.keepWritten(number);
  }

  /** Empty where it was removed. */
  get(number: number): string {
    const start = this.starts[number]!;
    const length = this.bytes.indexOf(END, start) - start;
    const name = Buffer.from(this.bytes.buffer, start, length).toString('latin1');
    return name.replace(BEYOND_ASCII, decoded);
  }

  remove(number: number): void {
    this.bytes[this.starts[number]!] = END;
  }

  /**
   * Writes a name behind those that are kept.
   * @returns its hash, by MurmurHash's multiplier, a byte at a time
   */
  write(name: string, seed = 0): number {
    const most = name.length * MOST_BYTES_OF_LETTER + ROOM_UNIT;
    while (this.bytesUsed + most > this.bytes.length) this.bytes = doubled(this.bytes);
    const { bytes } = this;
    let at = this.bytesUsed;
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
    bytes[at] = END;
    let hash = seed;
    for (let each = this.bytesUsed; each < at; each++) {
      hash = Math.imul(hash ^ bytes[each]!, 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  }

  /** Keeps the name that was just written: where it is, or, if there is room, where that of the number's last was. */
  keepWritten(number: number): void {
    while (number >= this.starts.length) {
      this.starts = doubled(this.starts);
      this.rooms = doubled(this.rooms);
    }
    const { bytes, bytesUsed, starts, rooms } = this;
    const needed = bytes.indexOf(END, bytesUsed) + 1 - bytesUsed;
    if (needed <= rooms[number]!) {
      bytes.copyWithin(starts[number]!, bytesUsed, bytesUsed + needed);
      return;
    }
    starts[number] = bytesUsed;
    rooms[number] = Math.ceil(needed / ROOM_UNIT) * ROOM_UNIT;
    this.bytesUsed += rooms[number];
  }

  /** Whether the name that was just written is the number's. */
  isWritten(number: number): boolean {
    const { bytes, bytesUsed } = this;
    const start = this.starts[number]!;
    let length = 0;
    while (bytes[start + length] === bytes[bytesUsed + length]) {
      if (bytes[start + length] === END) return true;
      length++;
    }
    return false;
  }
}

/**
 * Gives each name a number from 0 on, so that what is kept of it can lie in typed arrays. A million take 45 MB outside
 * of V8's heap, where their strings and a `Map` would be 100 for V8 to look through again and again.
 *
 * An index of them is searched from the place on that the hash of a name says (open addressing with linear probing:
 * Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithms L and R).
 */
export class NameNumbers {
  private readonly names = new Names();
  private hashes = new Uint32Array(FIRST_NAMES);
  private readonly freed: number[] = [];
  private given = 0;
  /** Numbers, each plus one. */
  private places = new Uint32Array(FIRST_NAMES * PLACES_PER_NUMBER);
  /** So that nobody can tell which names collide. */
  private readonly seed = randomInt(2 ** 32);
  /** Some of those looked up last, which are found ten times as fast as in bytes. */
  private readonly recent = new Map<string, number>();
  private found = 0;

  /** How many names have a number. */
  get size(): number {
    return this.given - this.freed.length;
  }

  /** One above the highest number that was given so far. */
  get length(): number {
    return this.given;
  }

  find(name: string): number | undefined {
    const recent = this.recent.get(name);
    if (recent !== undefined) return recent;
    const entry = this.places[this.placeOf(this.names.write(name, this.seed))]!;
    if (entry === 0) return undefined;
    if (++this.found % REMEMBERED === 0) this.remember(name, entry - 1);
    return entry - 1;
  }

  /** The name's number; a newcomer is given one that was freed, or the next. */
  add(name: string): number {
    const known = this.find(name);
    if (known !== undefined) return known;
    const hash = this.names.write(name, this.seed);
    const number = this.freed.pop() ?? this.next();
    this.names.keepWritten(number);
    this.hashes[number] = hash;
    this.enter(number);
    return number;
  }

  /** Frees a number that is in use. */
  remove(number: number): void {
    if (this.recent.size > 0) this.recent.delete(this.nameOf(number));
    this.vacate(number);
    this.names.remove(number);
    this.freed.push(number);
  }

  /** Which name a number was given to; empty where it was freed. */
  nameOf(number: number): string {
    return this.names.get(number);
  }

  private remember(name: string, number: number): void {
    if (this.recent.size >= MOST_RECENT) this.recent.clear();
    this.recent.set(name, number);
  }

  private next(): number {
    if (this.given === this.hashes.length) {
      this.hashes = doubled(this.hashes);
      this.places = new Uint32Array(this.places.length * 2);
      for (let number = 0; number < this.given; number++) this.enter(number);
    }
    return this.given++;
  }

  /** The place of the name that was just written; an empty one where it is not known. */
  private placeOf(hash: number): number {
    const { places, hashes, names } = this;
    let place = this.homeOf(hash);
    for (; places[place] !== 0; place = this.after(place)) {
      const number = places[place]! - 1;
      if (hashes[number] === hash && names.isWritten(number)) break;
    }
    return place;
  }

  private enter(number: number): void {
    let place = this.homeOf(this.hashes[number]!);
    while (this.places[place] !== 0) place = this.after(place);
    this.places[place] = number + 1;
  }

  /** Numbers behind the place that is left move up, or they would no longer be found. */
  private vacate(number: number): void {
    const { places, hashes } = this;
    let empty = this.homeOf(hashes[number]!);
    while (places[empty] !== number + 1) empty = this.after(empty);
    for (let next = this.after(empty); places[next] !== 0; next = this.after(next)) {
      const home = this.homeOf(hashes[places[next]! - 1]!);
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

function decoded(letter: string): string {
  let code = letter.length === 2 ? letter.charCodeAt(0) & 0x1f : letter.charCodeAt(0) & 0xf;
  for (let at = 1; at < letter.length; at++) code = (code << 6) | (letter.charCodeAt(at) & 0x3f);
  return String.fromCharCode(code);
}

/** The same and as much again, which is all 0. */
export function doubled<Cells extends Uint8Array | Uint32Array | Float64Array>(
  cells: Cells,
): Cells {
  const Kind = cells.constructor as new (length: number) => Cells;
  const larger = new Kind(cells.length * 2);
  larger.set(cells);
  return larger;
}

/** The rows that are marked with 1. */
export function rowsOf(marks: Uint8Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < marks.length; row++) if (marks[row] === 1) rows.push(row);
  return rows;
}
