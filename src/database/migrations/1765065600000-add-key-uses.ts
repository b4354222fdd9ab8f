import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When keys were used last, apart from them: rows so small that many are on a page. Those of before stay where
 * they are, where a release of before still writes them.
 */
export class AddKeyUses1765065600000 implements MigrationInterface {
  readonly name = 'AddKeyUses1765065600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const isSqlite = queryRunner.dataSource.options.type === 'better-sqlite3';
    // Where the rows are those of the index, a use is one page that changes, and not two.
    const storage = isSqlite ? 'WITHOUT ROWID' : '';
    await queryRunner.query(
      `CREATE TABLE "api_key_uses" (
        "key_id" varchar(32) PRIMARY KEY NOT NULL,
        "used_at" bigint NOT NULL
      ) ${storage}`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "api_key_uses"`);
  }
}
