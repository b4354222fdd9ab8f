import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What clients have used, hour by hour, and why the latest of their requests were refused. */
export class AddUsageHistory1764979200000 implements MigrationInterface {
  readonly name = 'AddUsageHistory1764979200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of SCHEMA) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['usage_refusals', 'usage_journal', 'usage_hours']) {
      await queryRunner.query(`DROP TABLE "${table}"`);
    }
  }
}

const SCHEMA = [
  `CREATE TABLE "usage_hours" (
    "client_id" varchar(64) NOT NULL,
    "hour" bigint NOT NULL,
    "writer" varchar(32) NOT NULL,
    "status" integer NOT NULL,
    "code" varchar(64) NOT NULL,
    "used" bigint NOT NULL,
    PRIMARY KEY ("client_id", "hour", "writer", "status", "code")
  )`,
  `CREATE INDEX "usage_hours_hour" ON "usage_hours" ("hour")`,
  `CREATE TABLE "usage_journal" (
    "writer" varchar(32) NOT NULL,
    "sequence" bigint NOT NULL,
    "counts" text NOT NULL,
    "saved_at" bigint NOT NULL,
    PRIMARY KEY ("writer", "sequence")
  )`,
  `CREATE TABLE "usage_refusals" (
    "client_id" varchar(64) NOT NULL,
    "writer" varchar(32) NOT NULL,
    "refusals" text NOT NULL,
    "at" bigint NOT NULL,
    PRIMARY KEY ("client_id", "writer")
  )`,
  `CREATE INDEX "usage_refusals_at" ON "usage_refusals" ("at")`,
];
