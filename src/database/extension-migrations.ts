import type { MigrationInterface } from 'typeorm';
import { MIGRATIONS } from './migrations/index.js';

export type MigrationClass = new () => MigrationInterface;

export interface ExtensionMigrations {
  /** The name of the extension. */
  readonly owner: string;
  readonly migrations: readonly MigrationClass[];
}

/**
 * TypeORM runs migrations in the order of the timestamps at the end of their names. Those of
 * extensions are moved behind all migrations of the service, also its future ones.
 */
const OFFSET_MS = 7_000_000_000_000;

/** The migrations of the service and of its extensions. */
export function allMigrations(extensions: readonly ExtensionMigrations[]): MigrationClass[] {
  return [...MIGRATIONS, ...extensions.flatMap(ownedMigrations)];
}

/** The names in the table of migrations after all have run. */
export function migrationNames(extensions: readonly ExtensionMigrations[]): string[] {
  return allMigrations(extensions).map(nameOf);
}

/**
 * The migrations of an extension, with its name in theirs, so that two extensions may use the same
 * names.
 */
export function ownedMigrations({ owner, migrations }: ExtensionMigrations): MigrationClass[] {
  return migrations.map((Migration) => {
    const name = nameOf(Migration);
    const timestamp = Number(name.slice(-13)) + OFFSET_MS;
    return class extends Migration {
      override name = `${owner}:${name}:${timestamp}`;
    };
  });
}

function nameOf(Migration: MigrationClass): string {
  return new Migration().name ?? Migration.name;
}

/** A migration for messages, with its extension. */
export function describeMigration(name: string): string {
  return name.replace(/^(.+):(.+):\d{13}$/, '$2 of $1');
}
