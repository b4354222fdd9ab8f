import type { Command } from 'commander';
import { quantity } from './arguments.js';
import { addCommand, type CommonOptions } from './common-options.js';
import type { Output } from './output.js';

/** Adds `petstore migrate` and `petstore seed`. */
export function addDataCommands(program: Command, output: Output): void {
  addCommand(program, 'migrate', 'create the database schema, or bring it up to date', [
    'migrate',
  ]).action((options: CommonOptions) => migrate(options, output));

  addCommand(program, 'seed', 'add made-up animals', ['seed --pets 100000'])
    .requiredOption('--pets <n>', 'number of animals', quantity)
    .action((options: CommonOptions & { pets: number }) => seed(options, output));
}

async function migrate(options: CommonOptions, output: Output): Promise<void> {
  const { runAsOperator } = await import('./operator.js');
  const { describeMigration, ownerOf } = await import('../database/extension-migrations.js');
  const migrations = await runAsOperator(options, (_app, ran) => ran, {
    migrate: true,
    mayCreate: true,
    onWait: (message) => output.error(message),
  });
  const ran = migrations.map(ownerOf);
  const namesOf = (owner?: string): string[] =>
    ran.filter((each) => each.owner === owner).map(({ name }) => name);
  const owners = new Set(ran.flatMap(({ owner }) => owner ?? []));
  const extensions = Object.fromEntries(Array.from(owners, (owner) => [owner, namesOf(owner)]));
  const result = { migrations: namesOf(), ...(owners.size > 0 && { extensions }) };
  output.print(result, options.json, () =>
    ran.length === 0
      ? 'The schema is up to date.'
      : `Ran ${migrations.map(describeMigration).join(', ')}.`,
  );
}

async function seed(options: CommonOptions & { pets: number }, output: Output): Promise<void> {
  const [{ runAsOperator }, { PetSeeder }, { withProgress }] = await Promise.all([
    import('./operator.js'),
    import('../pets/pet-seeder.js'),
    import('./progress.js'),
  ]);
  const { pets, json } = options;
  const startedAt = performance.now();
  await withProgress(pets, (update) =>
    runAsOperator(options, (app) => app.get(PetSeeder).seed(pets, update), {
      mayCreate: true,
    }),
  );
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  output.print({ pets, seconds }, json, () => `Added ${pets} animals in ${seconds} s.`);
}
