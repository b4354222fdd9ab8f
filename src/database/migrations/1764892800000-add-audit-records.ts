import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who has changed what of a key, and each ban. */
export class AddAuditRecords1764892800000 implements MigrationInterface {
  readonly name = 'AddAuditRecords1764892800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE "audit_records" (
        "id" varchar(32) PRIMARY KEY NOT NULL,
        "at" bigint NOT NULL,
        "action" varchar(32) NOT NULL,
        "actor_type" varchar(16) NOT NULL,
        "actor_name" varchar(255) NOT NULL,
        "target" varchar(64) NOT NULL,
        "address" varchar(64),
        "request_id" varchar(128),
        "before" text,
        "after" text
      )`,
    );
    await queryRunner.query(`CREATE INDEX "audit_records_at" ON "audit_records" ("at")`);
    await queryRunner.query(
      `CREATE INDEX "audit_records_target" ON "audit_records" ("target", "at")`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE "audit_records"`);
  }
}
