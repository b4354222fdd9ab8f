import assert from 'node:assert/strict';
import type { AsyncCommand } from 'fast-check';
import { eventually } from '../../test/support/eventually.js';

/** What the commands do their requests with. */
export interface System {
  key: string;
  issue(limits?: { perMinute?: number; perDay?: number }): Promise<string>;
  fetch(path: string, init?: RequestInit & { key?: string }): Promise<Response>;
  advance(seconds: number): void;
  restart(): Promise<void>;
}

/** The store as a client may imagine it. */
export interface Model {
  /** Every pet, in the order of its creation. */
  pets: { id: number; status: string | undefined; text: string }[];
  /** The request and the response of each Idempotency-Key of the client. */
  records: Map<string, { body: string; text: string }>;
}

type Command = AsyncCommand<Model, System>;

abstract class Always implements Command {
  check(): boolean {
    return true;
  }

  abstract run(model: Model, real: System): Promise<void>;

  toString(): string {
    return `${this.constructor.name}(${JSON.stringify(this)})`;
  }
}

interface NewPet {
  name: string;
  status: string | undefined;
  idempotencyKey: string | undefined;
}

/** Creates a pet, or repeats a create. */
export class Create extends Always {
  constructor(readonly pet: NewPet) {
    super();
  }

  async run({ pets, records }: Model, real: System): Promise<void> {
    const { name, status, idempotencyKey } = this.pet;
    const body = JSON.stringify({ name, categoryId: 7, status });
    const headers = new Headers();
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
    const answer = await real.fetch('/v1/pets', { method: 'POST', body, headers });
    const text = await answer.text();
    const record = idempotencyKey === undefined ? undefined : records.get(idempotencyKey);
    if (record !== undefined) {
      assert.equal(answer.status, record.body === body ? 201 : 422, text);
      if (record.body === body) assert.equal(text, record.text);
      return;
    }
    assert.equal(answer.status, 201, text);
    const pet = JSON.parse(text) as { id: number; name: string; status?: string };
    assert.deepEqual(pet, JSON.parse(JSON.stringify({ id: pet.id, name, categoryId: 7, status })));
    assert.ok(pet.id > (pets.at(-1)?.id ?? 0), `the id ${pet.id} does not grow`);
    pets.push({ id: pet.id, status, text });
    if (idempotencyKey !== undefined) records.set(idempotencyKey, { body, text });
  }
}

/** Reads all pages. */
export class List extends Always {
  constructor(
    readonly status: string | undefined,
    readonly limit: number,
  ) {
    super();
  }

  async run({ pets }: Model, real: System): Promise<void> {
    const filter = this.status === undefined ? '' : `&status=${this.status}`;
    const wanted = pets.filter(({ status }) => filter === '' || status === this.status);
    // Small pages from the beginning, the rest in large ones.
    let next: string | undefined = `/v1/pets?limit=${this.limit}${filter}`;
    const found: string[] = [];
    while (next !== undefined) {
      const answer: Response = await real.fetch(next);
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      found.push(text.slice(1, -1));
      const url: string | undefined = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1];
      next = url && (new URL(url).pathname + new URL(url).search).replace(/limit=\d+/, 'limit=100');
    }
    assert.equal(found.filter(Boolean).join(), wanted.map(({ text }) => text).join());
  }
}

/** Gets a pet that exists, or one that does not. */
export class Get extends Always {
  constructor(readonly index: number) {
    super();
  }

  async run({ pets }: Model, real: System): Promise<void> {
    const pet = pets[this.index];
    const answer = await real.fetch(`/v1/pets/${pet?.id ?? 1_000_000 + this.index}`);
    const text = await answer.text();
    assert.equal(answer.status, pet === undefined ? 404 : 200, text);
    if (pet !== undefined) assert.equal(text, pet.text);
  }
}

/** Continues with the successor of the key: the client is the same. */
export class Rotate extends Always {
  async run(_: Model, real: System): Promise<void> {
    const old = real.key;
    const answer = await real.fetch('/v1/key/rotate', { method: 'POST', body: '{}' });
    const text = await answer.text();
    // Operations on keys have a limit of their own.
    if (answer.status === 429) return real.advance(60);
    assert.equal(answer.status, 201, text);
    real.key = (JSON.parse(text) as { key: string }).key;
    assert.equal((await real.fetch('/v1/pets?limit=1')).status, 200);
    assert.equal((await real.fetch('/v1/pets?limit=1', { key: old })).status, 200);
  }
}

/** Ends the key, and continues as another client. */
export class Revoke extends Always {
  async run({ records }: Model, real: System): Promise<void> {
    const old = real.key;
    assert.equal((await real.fetch('/v1/key', { method: 'DELETE' })).status, 204);
    await eventually(async () => (await real.fetch('/v1/pets', { key: old })).status === 401);
    real.key = await real.issue();
    records.clear();
  }
}

/** Uses up a limit: exactly so many are admitted, and again after the minute. */
export class Exhaust extends Always {
  constructor(readonly limit: number) {
    super();
  }

  async run(_: Model, real: System): Promise<void> {
    const key = await real.issue({ perMinute: this.limit, perDay: 1_000 });
    const ask = async (): Promise<number> => (await real.fetch('/v1/pets?limit=1', { key })).status;
    const asked = Array.from({ length: this.limit + 2 }, ask);
    const admitted = (await Promise.all(asked)).filter((status) => status === 200);
    assert.equal(admitted.length, this.limit);
    assert.equal(await ask(), 429);
    real.advance(60);
    assert.equal(await ask(), 200);
  }
}

/** The database keeps everything. */
export class Restart extends Always {
  run(_: Model, real: System): Promise<void> {
    return real.restart();
  }
}
