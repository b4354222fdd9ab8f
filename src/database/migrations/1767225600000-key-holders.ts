import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Records of a key and its successor may have the same `Idempotency-Key`: the later one stays. */
const DELETE_DOUBLE = `DELETE FROM "idempotency_records" WHERE EXISTS (
  SELECT 1 FROM "idempotency_records" "later"
    JOIN "api_keys" "its_key" ON "its_key"."id" = "later"."client_id"
    JOIN "api_keys" "key" ON "key"."client_id" = "its_key"."client_id"
  WHERE "key"."id" = "idempotency_records"."client_id"
    AND "later"."idempotency_key" = "idempotency_records"."idempotency_key"
    AND ("later"."created_at", "later"."client_id")
      > ("idempotency_records"."created_at", "idempotency_records"."client_id"))`;

/** Adds disabled keys and the address of the last use, and gives idempotency records to clients. */
export class KeyHolders1767225600000 implements MigrationInterface {
  readonly name = 'KeyHolders1767225600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
    // The first migration of earlier builds had 16 characters, which SQLite does not enforce.
    if (queryRunner.dataSource.options.type !== 'postgres') return;
    await queryRunner.query('ALTER TABLE "api_keys" ALTER COLUMN "plan" TYPE varchar(64)');
  }

  down(): Promise<void> {
    throw new Error('This migration cannot be reverted: restore a backup instead');
  }
}

const UP = [
  // Their form has changed, and they are shown for days only.
  'DELETE FROM "usage_refusals"',
  'ALTER TABLE "api_keys" ADD COLUMN "disabled_at" bigint',
  'ALTER TABLE "api_keys" ADD COLUMN "last_used_from" varchar(64)',
  'CREATE INDEX "api_keys_expires_at" ON "api_keys" ("expires_at")',
  'ALTER TABLE "idempotency_records" RENAME COLUMN "key_id" TO "client_id"',
  DELETE_DOUBLE,
  `UPDATE "idempotency_records" SET "client_id" = (
      SELECT "key"."client_id" FROM "api_keys" "key"
      WHERE "key"."id" = "idempotency_records"."client_id")
    WHERE "client_id" IN (SELECT "id" FROM "api_keys")`,
];
