import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { type Dialect, run, Statement, type Work } from '../database/statement.js';
import type { NewPet } from './pet.dto.js';
import type { PetStatus } from './pet.entity.js';

/**
 * An animal as JSON text, made by the database: it writes an int64 exactly, and no object is made of a
 * row only to be taken apart again. A status that is unset has no member.
 */
const petJson = ({ jsonString }: Dialect): string =>
  `'{"id":' || id || ',"name":' || ${jsonString('name')} || ',"categoryId":' || category_id ||
    CASE WHEN status IS NULL THEN '}' ELSE ',"status":"' || status || '"}' END`;

const page = (dialect: Dialect, filter: string, limit: string, moreFilter: string): string =>
  `SELECT body, CAST(last AS varchar) AS last,
      EXISTS (SELECT 1 FROM pets WHERE ${moreFilter}id > page.last) AS more
    FROM (
      SELECT '[' || coalesce(string_agg(pet, ','), '') || ']' AS body, max(id) AS last
      FROM (SELECT id, ${petJson(dialect)} AS pet FROM pets WHERE ${filter} ORDER BY id LIMIT ${limit})
        AS pet
    ) AS page`;

export interface PetPage {
  /** A JSON array of the animals. */
  body: string;
  /** The id of the last of them; null on an empty page. */
  last: string | null;
  /** Whether more follow. */
  more: boolean | number;
}

const PAGE = new Statement<PetPage>('pets.page', (dialect) => page(dialect, 'id > $1', '$2', ''));
const PAGE_OF_STATUS = new Statement<PetPage>('pets.page-of-status', (dialect) =>
  page(dialect, 'status = $2 AND id > $3', '$4', 'status = $1 AND '),
);
const FIND = new Statement<{ pet: string }>(
  'pets.find',
  (dialect) => `SELECT ${petJson(dialect)} AS pet FROM pets WHERE id = $1`,
);
const INSERT = new Statement<{ id: string; pet: string }>(
  'pets.insert',
  (dialect) => `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3)
    RETURNING CAST(id AS varchar) AS id, ${petJson(dialect)} AS pet`,
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

/** Animals as JSON text, read and written with prepared statements. */
@Injectable()
export class PetsRepository {
  constructor(private readonly engine: Engine) {}

  /** The animals after an id, in the order of their ids. Costs the same wherever the page begins. */
  async page(status: PetStatus | undefined, after: bigint, limit: number): Promise<PetPage> {
    const [row] =
      status === undefined
        ? await this.engine.query(PAGE, after, limit)
        : await this.engine.query(PAGE_OF_STATUS, status, status, after, limit);
    return row!;
  }

  async find(id: bigint): Promise<string | undefined> {
    const [row] = await this.engine.query(FIND, id);
    return row?.pet;
  }

  /** Adds made-up animals, the same every time, some thousand to a transaction. */
  async seed(count: number, progress: (done: number) => void): Promise<void> {
    for (let done = 0; done < count;) {
      const size = Math.min(SEEDED_AT_ONCE, count - done);
      const from = done;
      await this.engine.write(() => run(SEED, from + size, from));
      progress((done += size));
    }
  }

  *insert({ name, categoryId, status }: NewPet): Work<{ id: string; pet: string }> {
    const [row] = yield* run(INSERT, name, categoryId, status ?? null);
    return row!;
  }
}
