import assert from 'node:assert/strict';
import { eventually } from '../../test/support/eventually.js';
import { BAN_AFTER_REJECTIONS, type Key, policyOf, type System, type Terms } from './system.js';
import { ask, reaches, send, Step } from './step.js';

/** The store as a client may imagine it. */
export interface Model {
  /** Every pet, in the order of its creation. */
  pets: { id: number; status: string | undefined; text: string }[];
  /** The request and the response of each Idempotency-Key of the client. */
  records: Map<string, { body: string; text: string }>;
  isDisabled: boolean;
  /** What the client may do. */
  terms: Terms;
  /** A key with one request a minute, whose client is banned. */
  banned: Key | undefined;
}

interface NewPet {
  name: string;
  categoryId: number;
  status?: string | undefined;
}

/** Creates a pet, or repeats a create. */
export class Create extends Step<{ pet: NewPet; idempotencyKey: string | undefined }> {
  async run(model: Model, real: System): Promise<void> {
    const { pets, records } = model;
    const { pet, idempotencyKey } = this.input;
    const body = JSON.stringify(pet);
    const headers = new Headers();
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
    const answer = await send(model, real, '/v1/pets', { method: 'POST', body, headers });
    const { text } = answer;
    const record = records.get(idempotencyKey ?? '');
    assert.equal(answer.status, record === undefined || record.body === body ? 201 : 422, text);
    if (record?.body === body) {
      assert.equal(answer.headers.get('idempotent-replayed'), 'true');
      assert.equal(text, record.text);
    }
    if (record !== undefined) return;
    const { id, ...created } = JSON.parse(text) as { id: number };
    assert.deepEqual(created, JSON.parse(body));
    assert.ok(id > (pets.at(-1)?.id ?? 0), `the id ${id} does not grow`);
    pets.push({ id, status: pet.status, text });
    if (idempotencyKey !== undefined) records.set(idempotencyKey, { body, text });
  }
}

/** Reads all pages. A cursor with another filter is rejected. */
export class List extends Step<{ status: string | undefined; limit: number }> {
  async run(model: Model, real: System): Promise<void> {
    const { status, limit } = this.input;
    const filter = status === undefined ? '' : `&status=${status}`;
    const wanted = model.pets.filter((pet) => status === undefined || pet.status === status);
    // A small page at the beginning, the rest in large ones.
    let next: string | undefined = `/v1/pets?limit=${limit}${filter}`;
    const found: string[] = [];
    while (next !== undefined) {
      const answer = await send(model, real, next);
      assert.equal(answer.status, 200, answer.text);
      found.push(answer.text.slice(1, -1));
      const url: string | undefined = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1];
      next = url && (new URL(url).pathname + new URL(url).search).replace(/limit=\d+/, 'limit=100');
      if (next === undefined || status !== undefined) continue;
      assert.equal((await send(model, real, `${next}&status=sold`)).status, 400);
    }
    assert.equal(found.filter(Boolean).join(), wanted.map(({ text }) => text).join());
  }
}

/** Gets a pet that exists, or one that does not. */
export class Get extends Step<number> {
  async run(model: Model, real: System): Promise<void> {
    const pet = model.pets[this.input];
    const answer = await send(model, real, `/v1/pets/${pet?.id ?? 1_000_000 + this.input}`);
    assert.equal(answer.status, pet === undefined ? 404 : 200, answer.text);
    if (pet !== undefined) assert.equal(answer.text, pet.text);
  }
}

/** Continues with the successor of the key: the client is the same. */
export class Rotate extends Step<void> {
  async run(model: Model, real: System): Promise<void> {
    const old = real.current;
    const init = { method: 'POST', body: '{}' };
    const answer = await send(model, real, '/v1/key/rotate', init);
    assert.equal(answer.status, 201, answer.text);
    real.current = JSON.parse(answer.text) as Key;
    assert.equal(await ask(real), '200');
    // The successor has been used: it cannot be replaced.
    const again = await real.fetch('/v1/key/rotate', { ...init, key: old.key });
    assert.equal(again.status, 409);
    for (const key of [old, real.current]) assert.equal(await ask(real, key), '200');
  }
}

/** Ends the key, and continues as another client. */
export class Revoke extends Step<void> {
  async run(model: Model, real: System): Promise<void> {
    const old = real.current;
    assert.equal((await send(model, real, '/v1/key', { method: 'DELETE' })).status, 204);
    await reaches(real, 'invalid_api_key', old);
    Object.assign(model, await real.newClient());
  }
}

export class Disable extends Step<void> {
  async run(model: Model, real: System): Promise<void> {
    await real.administer('PATCH', real.current, { disabled: true });
    await reaches(real, 'invalid_api_key');
    model.isDisabled = true;
  }
}

export class Enable extends Step<void> {
  override check({ isDisabled }: Readonly<Model>): boolean {
    return isDisabled;
  }

  async run(model: Model, real: System): Promise<void> {
    assert.equal(await ask(real), 'invalid_api_key');
    await real.administer('PATCH', real.current, { disabled: false });
    await reaches(real, '200');
    model.isDisabled = false;
  }
}

export class ChangePlan extends Step<Terms> {
  async run(model: Model, real: System): Promise<void> {
    await real.administer('PATCH', real.current, this.input);
    await eventually(async () => {
      const { headers } = await real.fetch('/v1/pets?limit=1', real.current);
      return headers.get('ratelimit-policy') === policyOf(this.input);
    });
    model.terms = this.input;
  }
}

/** Uses up a limit: exactly so many are admitted, and again after the minute. */
export class Exhaust extends Step<number> {
  async run(_: Model, real: System): Promise<void> {
    const limit = this.input;
    const key = await real.issue({ plan: 'enterprise', perMinute: limit, perDay: 1_000 });
    const asked = await Promise.all(Array.from({ length: limit + 2 }, () => ask(real, key)));
    assert.equal(asked.filter((each) => each === '200').length, limit);
    assert.equal(await ask(real, key), 'rate_limit_exceeded');
    real.advance(60);
    assert.equal(await ask(real, key), '200');
  }
}

/** Has another client banned. */
export class Ban extends Step<void> {
  override check({ banned }: Readonly<Model>): boolean {
    return banned === undefined;
  }

  async run(model: Model, real: System): Promise<void> {
    const key = await real.issue({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    assert.equal(await ask(real, key), '200');
    for (let count = 0; count < BAN_AFTER_REJECTIONS; count++) {
      assert.equal(await ask(real, key), 'rate_limit_exceeded');
    }
    assert.equal(await ask(real, key), 'key_banned');
    model.banned = key;
  }
}

/** Lifts the ban, or waits for its end. */
export class EndBan extends Step<{ isLifted: boolean }> {
  override check({ banned }: Readonly<Model>): boolean {
    return banned !== undefined;
  }

  async run(model: Model, real: System): Promise<void> {
    const key = model.banned!;
    const { headers } = await real.fetch('/v1/pets', key);
    assert.equal(await ask(real, key), 'key_banned');
    if (this.input.isLifted) await real.administer('POST', key, 'unban');
    else real.advance(Number(headers.get('retry-after')));
    await eventually(async () => (await ask(real, key)) !== 'key_banned');
    real.advance(60);
    assert.equal(await ask(real, key), '200');
    model.banned = undefined;
  }
}

/** The database keeps everything. */
export class Restart extends Step<void> {
  override check(): boolean {
    return true;
  }

  run(_: Model, real: System): Promise<void> {
    return real.restart();
  }
}
