import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Rows per statement. Between two statements, a running server can write. */
const BATCH = 5_000;

/** Sample pets, for `petstore seed` and the first start. */
@Injectable()
export class PetSeeder {
  constructor(private readonly dataSource: DataSource) {}

  async isEmpty(): Promise<boolean> {
    const pets = await this.dataSource.query<unknown[]>('SELECT 1 FROM pets LIMIT 1');
    return pets.length === 0;
  }

  /** Adds sample pets, the same ones every time. */
  async seed(count: number): Promise<void> {
    for (let done = 0; done < count;) {
      const last = Math.min(done + BATCH, count);
      await this.dataSource.sql`INSERT INTO pets (name, category_id, status)
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
  }
}
