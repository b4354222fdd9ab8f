import type { Random } from '../../test/support/random.js';

/** A create that was sent, and what was acknowledged. */
export interface Entry {
  /** Whether an extension injects the request, for another client. */
  isInjected: boolean;
  idempotencyKey: string;
  body: string;
  /** The body of its 201; undefined if no response arrived. */
  acknowledged?: string;
}

interface Pet {
  id: number;
  name: string;
}

/** Every create of a run, and the auditor of what became of them. */
export class Ledger {
  readonly entries: Entry[] = [];

  private readonly counts = { direct: 0, injected: 0 };

  constructor(private readonly random: Random) {}

  /** The next create; its name is unique. Two clients use the same idempotency keys. */
  next(round: number, isInjected: boolean): Entry {
    const number = this.counts[isInjected ? 'injected' : 'direct']++;
    const name = `${round}/${this.entries.length} ${this.random.pick(['Rex', 'Ünïcode 🐕', '"\\'])}`;
    const status = this.random.pick([undefined, 'available', 'pending', 'sold']);
    const body = JSON.stringify({ name, categoryId: this.random.below(1_000), status });
    const entry = { isInjected, idempotencyKey: `key-${number}`, body };
    this.entries.push(entry);
    return entry;
  }

  /** @param listed the text of each pet in the database, in the order of the list */
  audit(listed: readonly string[]): string[] {
    const texts = new Set(listed);
    const acknowledged = this.entries.flatMap((entry) => entry.acknowledged ?? []);
    const faults = acknowledged
      .filter((pet) => !texts.has(pet))
      .map((pet) => `acknowledged and lost: ${pet}`);
    const pets = listed.map((text) => JSON.parse(text) as Pet);
    const names = new Set<string>();
    for (const [index, { id, name }] of pets.entries()) {
      if (names.has(name)) faults.push(`created twice: ${listed[index]}`);
      names.add(name);
      if (index > 0 && id <= pets[index - 1]!.id) faults.push(`an id was used again: ${id}`);
    }
    if (names.size !== this.entries.length) {
      faults.push(
        `${this.entries.length} creates were repeated to a 201, ${names.size} pets exist`,
      );
    }
    return faults;
  }
}
