import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tokens of the admin API. */
export class AdminTokens1769904000000 implements MigrationInterface {
  readonly name = 'AdminTokens1769904000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE "admin_tokens" (
      "id" varchar(32) PRIMARY KEY NOT NULL, "name" varchar(255) NOT NULL,
      "digest" varchar(43) NOT NULL, "created_at" bigint NOT NULL, "revoked_at" bigint)`);
    await queryRunner.query(
      'CREATE UNIQUE INDEX "admin_tokens_digest" ON "admin_tokens" ("digest")',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "admin_tokens"');
  }
}
