import type { INestApplicationContext } from '@nestjs/common';
import { Presets, SingleBar } from 'cli-progress';
import { describeMigration, ownerOf } from '../database/extension-migrations.js';
import { PetSeeder } from '../pets/pet-seeder.js';
import type { CommonOptions, Result } from './add-command.js';
import { runAsOperator } from './operator.js';

/** `petstore migrate` */
export async function migrate(options: CommonOptions): Promise<Result> {
  const migrations = await runAsOperator(options, (_app, ran) => ran, {
    mayMigrate: true,
    mayCreate: true,
  });
  const ran = migrations.map(ownerOf);
  const namesOf = (owner?: string): string[] =>
    ran.filter((each) => each.owner === owner).map(({ name }) => name);
  const owners = new Set(ran.flatMap(({ owner }) => owner ?? []));
  const extensions = Object.fromEntries(Array.from(owners, (owner) => [owner, namesOf(owner)]));
  const text = `Ran ${migrations.map(describeMigration).join(', ')}.`;
  return {
    value: { migrations: namesOf(), ...(owners.size > 0 && { extensions }) },
    text: () => (ran.length === 0 ? 'The schema is up to date.' : text),
  };
}

/** `petstore seed --pets N` */
export async function seed(options: CommonOptions & { pets: number }): Promise<Result> {
  const { pets } = options;
  const startedAt = performance.now();
  // Shown if standard error is a terminal.
  const bar = new SingleBar({ stream: process.stderr, noTTYOutput: false }, Presets.shades_classic);
  bar.start(pets, 0);
  const work = (app: INestApplicationContext): Promise<void> =>
    app.get(PetSeeder).seed(pets, (done) => bar.update(done));
  await runAsOperator(options, work, { mayCreate: true }).finally(() => bar.stop());
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return { value: { pets, seconds }, text: () => `Added ${pets} animals in ${seconds} s.` };
}
