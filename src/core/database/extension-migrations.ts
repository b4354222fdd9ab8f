import type { MigrationInterface } from 'typeorm';
import { CreateSchema1764633600000 } from './migrations/1764633600000-create-schema.js';

export type MigrationClass = new () => MigrationInterface;

export interface ExtensionMigrations {
  /** The name of the extension. */
  readonly owner: string;
  readonly migrations: readonly MigrationClass[];
}

/**
 * TypeORM runs migrations in the order of the timestamps at the end of their names. This puts
 * extensions behind all migrations of the core, future ones included.
 */
const OFFSET_MS = 7_000_000_000_000;

/** The migrations of the core and its extensions. */
export function allMigrations(extensions: readonly ExtensionMigrations[]): MigrationClass[] {
  return [CreateSchema1764633600000, ...extensions.flatMap(ownedMigrations)];
}

/** The names in the table of migrations after all have run. */
export function migrationNames(extensions: readonly ExtensionMigrations[]): string[] {
  return allMigrations(extensions).map(migrationName);
}

/**
 * The migrations of an extension, with its name in theirs, so that two extensions may use the same
 * names.
 */
export function ownedMigrations({ owner, migrations }: ExtensionMigrations): MigrationClass[] {
  return migrations.map((Migration) => {
    const name = migrationName(Migration);
    const timestamp = Number(name.slice(-13)) + OFFSET_MS;
    return class extends Migration {
      override name = `${owner}:${name}:${timestamp}`;
    };
  });
}

export function migrationName(Migration: MigrationClass): string {
  return new Migration().name ?? Migration.name;
}

/** A migration for messages, with its extension. */
export function describeMigration(name: string): string {
  return name.replace(/^(.+):(.+):\d{13}$/, '$2 of $1');
}
