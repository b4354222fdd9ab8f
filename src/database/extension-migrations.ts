import type { MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATIONS } from './migrations/index.js';
import { driverErrorOf } from './outage.js';

export type MigrationClass = new () => MigrationInterface;

export interface ExtensionMigrations {
  /** The name of the extension. */
  readonly owner: string;
  readonly migrations: readonly MigrationClass[];
}

/**
 * TypeORM runs migrations in the order of the timestamps at the end of their names. Those of extensions are moved
 * behind all migrations of the service, also its future ones.
 */
const OFFSET_MS = 7_000_000_000_000;
const OF_EXTENSION = /^(.+):(.+):\d{13}$/;

/** The migrations of the service and of its extensions. */
export function allMigrations(extensions: readonly ExtensionMigrations[]): MigrationClass[] {
  const own = MIGRATIONS.map((Migration) => named(Migration));
  return [...own, ...extensions.flatMap(ownedMigrations)];
}

/** The names in the table of migrations after all have run. */
export function migrationNames(extensions: readonly ExtensionMigrations[]): string[] {
  return allMigrations(extensions).map(nameOf);
}

/** The migrations of an extension, with its name in theirs, so that two extensions may use the same names. */
export function ownedMigrations({ owner, migrations }: ExtensionMigrations): MigrationClass[] {
  return migrations.map((Migration) => {
    const name = nameOf(Migration);
    return named(Migration, `${owner}:${name}:${Number(name.slice(-13)) + OFFSET_MS}`);
  });
}

/** The migration with a name of its own, and errors that tell which migration failed. */
function named(Migration: MigrationClass, name = nameOf(Migration)): MigrationClass {
  return class extends Migration {
    override name = name;

    override async up(queryRunner: QueryRunner): Promise<void> {
      try {
        await super.up(queryRunner);
      } catch (cause) {
        const reason = String(driverErrorOf(cause).message ?? cause);
        throw new Error(`The migration ${describeMigration(name)} failed: ${reason}`, { cause });
      }
    }
  };
}

function nameOf(Migration: MigrationClass): string {
  return new Migration().name ?? Migration.name;
}

/** The extension that a migration belongs to, and its name there; `owner` is undefined for the service itself. */
export function ownerOf(migration: string): { owner: string | undefined; name: string } {
  const [, owner, name = migration] = OF_EXTENSION.exec(migration) ?? [];
  return { owner, name };
}

/** A migration for messages. */
export function describeMigration(migration: string): string {
  const { owner, name } = ownerOf(migration);
  return owner === undefined ? name : `${name} of ${owner}`;
}
