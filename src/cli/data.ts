import { describeMigration } from '../database/extension-migrations.js';
import { PetSeeder } from '../pets/pet-seeder.js';
import type { CommonOptions, Result } from './add-command.js';
import { runAsOperator } from './operator.js';

/** `petstore migrate` */
export async function migrate(options: CommonOptions): Promise<Result> {
  const ran = await runAsOperator(options, (_app, migrations) => migrations, {
    mayMigrate: true,
    mayCreate: true,
  });
  const migrations = ran.map(describeMigration);
  const text = ran.length === 0 ? 'The schema is up to date.' : `Ran ${migrations.join(', ')}.`;
  return { value: { migrations }, text: () => text };
}

/** `petstore seed --pets N` */
export async function seed(options: CommonOptions & { pets: number }): Promise<Result> {
  const { pets } = options;
  const startedAt = performance.now();
  await runAsOperator(options, (app) => app.get(PetSeeder).seed(pets), { mayCreate: true });
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return { value: { pets, seconds }, text: () => `Added ${pets} pets in ${seconds} s.` };
}
