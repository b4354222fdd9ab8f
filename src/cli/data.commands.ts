import { Command } from 'commander';
import { describeMigration, ownerOf } from '../database/guest-migrations.js';
import { quantity } from './arguments.js';
import type { Output } from './output.js';

/** `petstore migrate` */
export function migrateCommand(output: Output): Command {
  return new Command('migrate')
    .description('bring the database schema up to date')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const { asOperator } = await import('./operator.js');
      const ran = await asOperator((_app, migrations) => migrations, {
        migrate: true,
        mayCreate: true,
        tell: (what) => output.complain(what),
      });
      output.print(toMigrated(ran), json, () => describeMigrated(ran));
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
        await asOperator((app) => app.get(PetsRepository).seed(pets, progress.update), {
          mayCreate: true,
        });
      } finally {
        progress.stop();
      }
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      output.print({ pets, seconds }, json, `Added ${pets} animals in ${seconds} s.`);
    });
}

/** What was run of the service itself, and of each extension that had something to run. */
function toMigrated(ran: readonly string[]) {
  const all = ran.map(ownerOf);
  const of = (owner?: string) => all.filter((each) => each.owner === owner).map(({ name }) => name);
  const owners = new Set(all.flatMap(({ owner }) => owner ?? []));
  const extensions = Object.fromEntries(Array.from(owners, (owner) => [owner, of(owner)]));
  return { migrations: of(), ...(owners.size > 0 && { extensions }) };
}

function describeMigrated(ran: readonly string[]): string {
  if (ran.length === 0) return 'The schema is up to date.';
  return `Ran ${ran.map(describeMigration).join(', ')}.`;
}
