import { Command } from 'commander';
import { quantity } from './arguments.js';
import type { Output } from './output.js';

/** `petstore migrate` */
export function migrateCommand(output: Output): Command {
  return new Command('migrate')
    .description('bring the database schema up to date')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const [{ asOperator }, { migrate }, { DataSource }] = await Promise.all([
        import('./operator.js'),
        import('../database/migrate.js'),
        import('typeorm'),
      ]);
      const ran = await asOperator((app) => migrate(app.get(DataSource)), { anySchema: true });
      const text = ran.length === 0 ? 'The schema is up to date.' : `Ran ${ran.join(', ')}.`;
      output.print({ migrations: ran }, json, text);
    });
}

/** `petstore seed --pets N` */
export function seedCommand(output: Output): Command {
  return new Command('seed')
    .description('add made-up animals')
    .requiredOption('--pets <n>', 'how many', quantity)
    .option('--json', 'print JSON')
    .action(async ({ pets, json }: { pets: number; json?: true }) => {
      const [{ asOperator }, { PetsRepository }, { progressBar }] = await Promise.all([
        import('./operator.js'),
        import('../pets/pets.repository.js'),
        import('./progress.js'),
      ]);
      const startedAt = performance.now();
      const progress = progressBar(pets);
      try {
        await asOperator((app) => app.get(PetsRepository).seed(pets, progress.update));
      } finally {
        progress.stop();
      }
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      output.print({ pets, seconds }, json, `Added ${pets} animals in ${seconds} s.`);
    });
}
