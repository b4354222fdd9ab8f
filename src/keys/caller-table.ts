import { grown } from '../rate-limits/names.js';
import type { NameHolder, SharedNames } from '../rate-limits/shared-names.js';
import { Limits } from '../rate-limits/limits.js';
import type { PlanName } from '../rate-limits/plan.js';
import type { Caller } from './caller.js';
import { Digests } from './digests.js';

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
