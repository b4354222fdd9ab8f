import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import type { Eventual } from '../database/eventual.js';
import type { JsonMembers } from '../database/json-members.js';
import { run, Statement, type Work } from '../database/statement.js';
import type { NewPet } from './pet.dto.js';
import type { PetStatus } from './pet.entity.js';

/** An animal as the API shows it: a status that is unset has no member. The id comes first: `idOf`. */
const PET: JsonMembers = [
  { name: 'id', column: 'id', type: 'integer' },
  { name: 'name', column: 'name', type: 'string' },
  { name: 'categoryId', column: 'category_id', type: 'integer' },
  { name: 'status', column: 'status', type: 'word', isOptional: true },
];

const PAGE = Statement.ofJson(
  'pets.page',
  PET,
  (json) => `SELECT ${json} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`,
);
const PAGE_OF_STATUS = Statement.ofJson(
  'pets.page-of-status',
  PET,
  (json) => `SELECT ${json} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
);
const FIND = Statement.ofJson(
  'pets.find',
  PET,
  (json) => `SELECT ${json} FROM pets WHERE id = $1`,
  {
    columns: { id: 'bigint' },
    // Each is looked for by itself: joined, they would be found by going through all animals, were those few once.
    text: (given, { json }) => `SELECT found.*, place FROM ${given}
      CROSS JOIN LATERAL (SELECT ${json(PET)} FROM pets WHERE pets.id = given.id LIMIT 1) found`,
    isNumbered: true,
  },
);
const INSERT = Statement.ofJson(
  'pets.insert',
  PET,
  (json) => `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${json}`,
  {
    columns: { name: 'text', category_id: 'bigint', status: 'text' },
    text: (given, { json }) => `INSERT INTO pets (name, category_id, status)
      SELECT name, category_id, status FROM ${given} ORDER BY place RETURNING ${json(PET)}`,
  },
);

/** So many at once that a running server can write in between. */
const SEEDED_AT_ONCE = 5_000;
const SEED = new Statement(
  'pets.seed',
  () => `INSERT INTO pets (name, category_id, status)
    WITH RECURSIVE
      bounds(last, first) AS (SELECT CAST($1 AS bigint), CAST($2 AS bigint)),
      made(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM made WHERE i + 1 < ${SEEDED_AT_ONCE}),
      named(n, name) AS (VALUES (0, 'Rex'), (1, 'Luna'), (2, 'Milo'), (3, 'Bella'), (4, 'Oscar'),
        (5, 'Coco'), (6, 'Felix'), (7, 'Nala'), (8, 'Simba'), (9, 'Daisy'))
    SELECT name || ' ' || (i + first + 1), i % 12 + 1,
      CASE i % 4 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' WHEN 2 THEN 'sold' END
    FROM made JOIN named ON n = i % 10 JOIN bounds ON i + first < last
    ORDER BY i`,
);

/** The id that the JSON text of an animal begins with. */
export function idOf(pet: string): string {
  return pet.slice('{"id":'.length, pet.indexOf(','));
}

/** Animals as JSON text, read and written with prepared statements. */
@Injectable()
export class PetsRepository {
  constructor(private readonly engine: Engine) {}

  /**
   * At most `count` animals after an id, in the order of their ids. Costs the same wherever it begins.
   */
  page(status: PetStatus | undefined, after: bigint, count: number): Eventual<string[]> {
    return status === undefined
      ? this.engine.query(PAGE, after, count)
      : this.engine.query(PAGE_OF_STATUS, status, after, count);
  }

  find(id: bigint): Eventual<string | undefined> {
    return this.engine.first(FIND, id);
  }

  *insert({ name, categoryId, status }: NewPet): Work<string> {
    const [pet] = yield* run(INSERT, name, categoryId, status ?? null);
    return pet!;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.page(undefined, 0n, 1)).length === 0;
  }

  /** Adds made-up animals, the same every time, some thousand to a transaction. */
  async seed(count: number, progress?: (done: number) => void): Promise<void> {
    for (let done = 0; done < count;) {
      const size = Math.min(SEEDED_AT_ONCE, count - done);
      const from = done;
      await this.engine.write(() => run(SEED, from + size, from));
      done += size;
      progress?.(done);
    }
  }
}
