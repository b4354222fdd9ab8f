import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was counted within half a second, as one row. On SQLite the rows that it is brought to are kept in the order of
 * their subjects from now on: they are written in that order. Releases of before go on with them.
 */
export class AddCounterJournal1765152000000 implements MigrationInterface {
  readonly name = 'AddCounterJournal1765152000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE "rate_limit_journal" (
        "writer" varchar(32) NOT NULL,
        "sequence" bigint NOT NULL,
        "counts" text NOT NULL,
        "saved_at" bigint NOT NULL,
        PRIMARY KEY ("writer", "sequence")
      )`,
    );
    if (isSqlite(queryRunner)) await rebuildCounters(queryRunner, 'WITHOUT ROWID');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "rate_limit_journal"`);
    if (isSqlite(queryRunner)) await rebuildCounters(queryRunner, '');
  }
}

function isSqlite({ dataSource }: QueryRunner): boolean {
  return dataSource.options.type === 'better-sqlite3';
}

async function rebuildCounters(queryRunner: QueryRunner, storage: string): Promise<void> {
  for (const statement of [
    `ALTER TABLE "rate_limit_counters" RENAME TO "rate_limit_counters_before"`,
    `DROP INDEX "rate_limit_counters_day"`,
    `CREATE TABLE "rate_limit_counters" (
      "subject" varchar(64) PRIMARY KEY NOT NULL,
      "minute" bigint NOT NULL,
      "minute_used" bigint NOT NULL,
      "day" bigint NOT NULL,
      "day_used" bigint NOT NULL
    ) ${storage}`,
    `INSERT INTO "rate_limit_counters" (subject, minute, minute_used, day, day_used)
      SELECT subject, minute, minute_used, day, day_used FROM "rate_limit_counters_before"
      ORDER BY subject`,
    `DROP TABLE "rate_limit_counters_before"`,
    `CREATE INDEX "rate_limit_counters_day" ON "rate_limit_counters" ("day")`,
  ]) {
    await queryRunner.query(statement);
  }
}
