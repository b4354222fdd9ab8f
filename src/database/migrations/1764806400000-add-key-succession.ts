import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which key has replaced another. Of those that were rotated before, the next of their client has. */
export class AddKeySuccession1764806400000 implements MigrationInterface {
  readonly name = 'AddKeySuccession1764806400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "api_keys" ADD COLUMN "replaced_by" varchar(32)`);
    await queryRunner.query(
      `UPDATE "api_keys" SET "replaced_by" = (SELECT "next"."id" FROM "api_keys" "next"
          WHERE "next"."client_id" = "api_keys"."client_id"
            AND "next"."created_at" > "api_keys"."created_at"
          ORDER BY "next"."created_at", "next"."id" LIMIT 1)
        WHERE "expires_at" IS NOT NULL`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE "api_keys" DROP COLUMN "replaced_by"`);
  }
}
