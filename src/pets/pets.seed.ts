import type { DataSource } from 'typeorm';

/** Rows per statement. Between two statements, a running server can write. */
const BATCH = 5_000;
/** Pets of the first start: more than one page, so that there is a next page to follow. */
const FIRST_PETS = 30;

/** Adds sample pets, the same ones every time. @param count default: 30, if there are no pets */
export async function seedPets(
  dataSource: DataSource,
  count?: number,
): Promise<string | undefined> {
  if (count === undefined) {
    const pets = await dataSource.query<unknown[]>('SELECT 1 FROM pets LIMIT 1');
    return pets.length > 0 ? undefined : seedPets(dataSource, FIRST_PETS);
  }
  for (let done = 0; done < count;) {
    const last = Math.min(done + BATCH, count);
    await dataSource.sql`INSERT INTO pets (name, category_id, status)
      WITH RECURSIVE
        bounds(first, last) AS (SELECT CAST(${done} AS bigint), CAST(${last} AS bigint)),
        made(i) AS (SELECT first FROM bounds UNION ALL SELECT i + 1 FROM made, bounds WHERE i + 1 < last),
        named(n, name) AS (VALUES (0, 'Rex'), (1, 'Luna'), (2, 'Milo'), (3, 'Bella'), (4, 'Oscar'),
          (5, 'Coco'), (6, 'Felix'), (7, 'Nala'), (8, 'Simba'), (9, 'Daisy'))
      SELECT name || ' ' || (i + 1), i % 12 + 1,
        CASE i % 4 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' WHEN 2 THEN 'sold' END
      FROM made JOIN named ON n = i % 10
      ORDER BY i`;
    done = last;
  }
  return `${count} sample pets`;
}
