import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of the core. The two engines differ in the storage of the statistics. */
export class CreateSchema1764633600000 implements MigrationInterface {
  readonly name = 'CreateSchema1764633600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const isPostgres = queryRunner.dataSource.options.type === 'postgres';
    // One B-tree instead of two, so an upsert writes one page instead of two.
    const keyOnly = isPostgres ? '' : ' WITHOUT ROWID';
    const statements = [...TABLES, ...STATISTICS.map((table) => `${table}${keyOnly}`), ...INDEXES];
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('The first migration cannot be reverted: drop the database instead');
  }
}

const TABLES: readonly string[] = [
  `CREATE TABLE "api_keys" (
    "id" varchar(32) PRIMARY KEY NOT NULL, "client_id" varchar(32) NOT NULL,
    "name" varchar(255) NOT NULL, "digest" varchar(43) NOT NULL, "last_four" varchar(4) NOT NULL,
    "plan" varchar(64) NOT NULL, "scopes" varchar(1024) NOT NULL,
    "allowed_from" text NOT NULL DEFAULT '', "per_minute" bigint, "per_day" bigint,
    "created_at" bigint NOT NULL, "expires_at" bigint,
    "revoked_at" bigint, "disabled_at" bigint, "replaced_by" varchar(32),
    "withdrawable_by" varchar(32),
    "last_used_at" bigint, "last_used_from" varchar(64), "changed_at" bigint NOT NULL)`,

  `CREATE TABLE "admin_tokens" (
    "id" varchar(32) PRIMARY KEY NOT NULL, "name" varchar(255) NOT NULL,
    "role" varchar(16) NOT NULL, "digest" varchar(43) NOT NULL, "created_at" bigint NOT NULL,
    "expires_at" bigint, "revoked_at" bigint)`,

  `CREATE TABLE "audit_records" (
    "id" varchar(32) PRIMARY KEY NOT NULL, "at" bigint NOT NULL, "action" varchar(32) NOT NULL,
    "actor_type" varchar(16) NOT NULL, "actor_name" varchar(261) NOT NULL,
    "target" varchar(64) NOT NULL, "address" varchar(64), "request_id" varchar(128),
    "before" text, "after" text)`,

  `CREATE TABLE "idempotency_records" (
    "client_id" varchar(32) NOT NULL, "idempotency_key" varchar(255) NOT NULL,
    "body_digest" varchar(43) NOT NULL, "response" text NOT NULL, "created_at" bigint NOT NULL,
    PRIMARY KEY ("client_id", "idempotency_key"))`,

  `CREATE TABLE "rate_limit_counters" (
    "rate_limit_key" varchar(64) PRIMARY KEY NOT NULL,
    "minute" bigint NOT NULL, "minute_used" bigint NOT NULL,
    "day" bigint NOT NULL, "day_used" bigint NOT NULL)`,

  `CREATE TABLE "rate_limit_bans" (
    "rate_limit_key" varchar(64) PRIMARY KEY NOT NULL,
    "banned_at" bigint NOT NULL, "banned_until" bigint NOT NULL,
    "bans" integer NOT NULL, "changed_at" bigint NOT NULL)`,
];

const STATISTICS: readonly string[] = [
  `CREATE TABLE "usage_hours" (
    "hour" bigint NOT NULL, "client_id" varchar(64) NOT NULL, "plan" varchar(64) NOT NULL,
    "operation" text NOT NULL, "status" integer NOT NULL, "code" varchar(64) NOT NULL,
    "used" bigint NOT NULL,
    PRIMARY KEY ("hour", "client_id", "plan", "operation", "status", "code"))`,

  `CREATE TABLE "rejected_requests" (
    "day" bigint NOT NULL, "client_id" varchar(64) NOT NULL, "code" varchar(64) NOT NULL,
    "operation" text NOT NULL, "address" varchar(64) NOT NULL, "full_window" varchar(6) NOT NULL,
    "key_id" varchar(64) NOT NULL, "count" bigint NOT NULL,
    "first_at" bigint NOT NULL, "latest_at" bigint NOT NULL,
    PRIMARY KEY ("day", "client_id", "code", "operation", "address", "full_window"))`,
];

const INDEXES: readonly string[] = [
  'CREATE UNIQUE INDEX "api_keys_digest" ON "api_keys" ("digest")',
  `CREATE INDEX "api_keys_usable" ON "api_keys" ("client_id", "expires_at")
    WHERE revoked_at IS NULL`,
  'CREATE INDEX "api_keys_changed_at" ON "api_keys" ("changed_at")',
  'CREATE INDEX "api_keys_expires_at" ON "api_keys" ("expires_at")',
  'CREATE INDEX "api_keys_replaced_by" ON "api_keys" ("replaced_by")',
  'CREATE UNIQUE INDEX "admin_tokens_digest" ON "admin_tokens" ("digest")',
  'CREATE INDEX "audit_records_at" ON "audit_records" ("at")',
  'CREATE INDEX "audit_records_action" ON "audit_records" ("action", "at")',
  'CREATE INDEX "audit_records_actor" ON "audit_records" ("actor_name", "at")',
  'CREATE INDEX "audit_records_target" ON "audit_records" ("target", "at")',
  'CREATE INDEX "idempotency_records_created_at" ON "idempotency_records" ("created_at")',
  'CREATE INDEX "rate_limit_bans_changed_at" ON "rate_limit_bans" ("changed_at")',
  'CREATE INDEX "rejected_requests_latest" ON "rejected_requests" ("client_id", "latest_at")',
];
