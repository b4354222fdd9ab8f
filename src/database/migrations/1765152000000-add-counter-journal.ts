import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was counted within half a second, as one row. Releases of before know the rows that it is brought to. */
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
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "rate_limit_journal"`);
  }
}
