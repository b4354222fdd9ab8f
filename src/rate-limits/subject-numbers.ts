import { randomInt } from 'node:crypto';
import type { Subject } from './subject.js';

const FIRST_NUMBERS = 1_024;
const FIRST_BYTES = 32_768;
/** At least half of the index stays empty. */
const PLACES_PER_NUMBER = 2;
/** Ends a name. */
const END = 0;
const MOST_BYTES_OF_LETTER = 3;
/** What can be taken by names of about the same length. */
const ROOM_UNIT = 4;
const MOST_RECENT = 1_000;
const BEYOND_ASCII = /[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}/g;

/**
 * Gives each subject a number from 0 on, so that what is kept of it can lie in typed arrays. A million subjects take
 * 45 MB outside of V8's heap, where their strings and a `Map` would be 100 for V8 to look through again and again.
 *
 * Names lie in one row of bytes, as Modified UTF-8, in which none is 0 (Java Virtual Machine Specification, 4.4.7). An
 * index of them is searched from the place on that the hash of a name says (open addressing with linear probing: Knuth,
 * The Art of Computer Programming, volume 3, section 6.4, algorithms L and R).
 */
export class SubjectNumbers {
  private bytes = new Uint8Array(FIRST_BYTES);
  private bytesUsed = 0;
  /** Of each number, where its name begins, and how many bytes there are for it. */
  private starts = new Uint32Array(FIRST_NUMBERS);
  private rooms = new Uint32Array(FIRST_NUMBERS);
  private hashes = new Uint32Array(FIRST_NUMBERS);
  private readonly freed: number[] = [];
  private given = 0;
  /** Numbers, each plus one. */
  private places = new Uint32Array(FIRST_NUMBERS * PLACES_PER_NUMBER);
  /** So that nobody can tell which names collide. */
  private readonly seed = randomInt(2 ** 32);
  /** Those looked up last, which are found ten times as fast as in bytes. */
  private readonly recent = new Map<Subject, number>();

  /** How many subjects have a number. */
  get size(): number {
    return this.given - this.freed.length;
  }

  /** One above the highest number that was given so far. */
  get length(): number {
    return this.given;
  }

  find(subject: Subject): number | undefined {
    const recent = this.recent.get(subject);
    if (recent !== undefined) return recent;
    const entry = this.places[this.placeOf(this.write(subject))]!;
    return entry === 0 ? undefined : this.found(subject, entry - 1);
  }

  /** The subject's number; a newcomer is given one that was freed, or the next. */
  add(subject: Subject): number {
    const known = this.find(subject);
    if (known !== undefined) return known;
    const hash = this.write(subject);
    const number = this.freed.pop() ?? this.next();
    this.keepWritten(number);
    this.hashes[number] = hash;
    this.enter(number);
    return this.found(subject, number);
  }

  /** Frees a number that is in use. */
  remove(number: number): void {
    this.vacate(number);
    this.bytes[this.starts[number]!] = END;
    this.freed.push(number);
    if (this.recent.size > 0) this.recent.clear();
  }

  /** Whom a number was given to; empty where it was freed. */
  subjectOf(number: number): Subject {
    const start = this.starts[number]!;
    const length = this.bytes.indexOf(END, start) - start;
    const name = Buffer.from(this.bytes.buffer, start, length).toString('latin1');
    return name.replace(BEYOND_ASCII, decoded);
  }

  private found(subject: Subject, number: number): number {
    if (this.recent.size >= MOST_RECENT) this.recent.clear();
    this.recent.set(subject, number);
    return number;
  }

  private next(): number {
    if (this.given === this.starts.length) {
      this.starts = doubled(this.starts);
      this.rooms = doubled(this.rooms);
      this.hashes = doubled(this.hashes);
      this.places = new Uint32Array(this.places.length * 2);
      for (let number = 0; number < this.given; number++) this.enter(number);
    }
    return this.given++;
  }

  /**
   * Writes a name behind those that are kept.
   * @returns its hash, by MurmurHash's multiplier, a byte at a time
   */
  private write(subject: Subject): number {
    const most = subject.length * MOST_BYTES_OF_LETTER + ROOM_UNIT;
    while (this.bytesUsed + most > this.bytes.length) this.bytes = doubled(this.bytes);
    const { bytes } = this;
    let at = this.bytesUsed;
    for (let letter = 0; letter < subject.length; letter++) {
      const code = subject.charCodeAt(letter);
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
    let hash = this.seed;
    for (let each = this.bytesUsed; each < at; each++) {
      hash = Math.imul(hash ^ bytes[each]!, 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  }

  /** Keeps the name that was just written: where it is, or, if there is room, where that of the number's last was. */
  private keepWritten(number: number): void {
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

  /** The place of the name that was just written; an empty one where it is not known. */
  private placeOf(hash: number): number {
    const { places, hashes } = this;
    let place = this.homeOf(hash);
    for (; places[place] !== 0; place = this.after(place)) {
      const number = places[place]! - 1;
      if (hashes[number] === hash && this.isWritten(number)) break;
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

  private isWritten(number: number): boolean {
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

function decoded(letter: string): string {
  let code = letter.length === 2 ? letter.charCodeAt(0) & 0x1f : letter.charCodeAt(0) & 0xf;
  for (let at = 1; at < letter.length; at++) code = (code << 6) | (letter.charCodeAt(at) & 0x3f);
  return String.fromCharCode(code);
}

/** The same and as much again, which is all 0. */
export function doubled<Cells extends Uint8Array | Uint32Array>(cells: Cells): Cells {
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
