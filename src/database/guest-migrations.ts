import type { MigrationInterface } from 'typeorm';

export type MigrationClass = new () => MigrationInterface;

/** Migrations that somebody else brings along, and whose they are. */
export interface GuestMigrations {
  readonly owner: string;
  readonly migrations: readonly MigrationClass[];
}

/**
 * TypeORM runs migrations in the order of the timestamps that their names end in. A guest's are moved behind
 * whatever the service itself will bring in its time, and keep their order among themselves.
 */
const BEHIND_OURS_MS = 7_000_000_000_000;
const TIMESTAMP = /[1-2]\d{12}$/;
const OF_GUEST = /^(.+):(.+):\d{13}$/;

/** Each under a name of its owner's, so that two of the same name are two. */
export function ownMigrations({ owner, migrations }: GuestMigrations): MigrationClass[] {
  return migrations.map(
    (Migration) =>
      class extends Migration {
        constructor() {
          super();
          this.name = nameOf(owner, this.name ?? Migration.name);
        }
      },
  );
}

function nameOf(owner: string, name: string): string {
  return `${owner}:${name}:${Number(name.slice(-13)) + BEHIND_OURS_MS}`;
}

/** Whether TypeORM can tell when its turn is. */
export function isInOrder(Migration: MigrationClass): boolean {
  return TIMESTAMP.test(new Migration().name ?? Migration.name);
}

/** Whether it says if it has a transaction: beside one such, TypeORM runs none of those that share one. */
export function hasOwnTransaction(Migration: MigrationClass): boolean {
  return new Migration().transaction !== undefined;
}

/** Whose a migration is, and what its owner calls it; undefined for the service itself. */
export function ownerOf(migration: string): { owner: string | undefined; name: string } {
  const [, owner, name = migration] = OF_GUEST.exec(migration) ?? [];
  return { owner, name };
}

/** A migration as operators are told of it. */
export function describeMigration(migration: string): string {
  const { owner, name } = ownerOf(migration);
  return owner === undefined ? name : `${name} of ${owner}`;
}
