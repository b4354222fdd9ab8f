import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { isEmbedded } from '../database/data-source-options.js';
import { KeysService } from '../keys/keys.service.js';
import { PetSeeder } from '../pets/pet-seeder.js';

/** More than one page, so that there is a next page to follow. */
const ANIMALS = 30;

/** Adds made-up animals to an empty embedded database; returns their number. */
export async function seedFirstAnimals(
  app: INestApplicationContext,
  config: Config,
): Promise<number> {
  const pets = app.get(PetSeeder);
  if (!(await isFirstStart(app, config)) || !(await pets.isEmpty())) return 0;
  await pets.seed(ANIMALS);
  return ANIMALS;
}

/** Issues a key at the first start. Called after the server listens: the key is shown only once. */
export async function issueFirstKey(
  app: INestApplicationContext,
  config: Config,
): Promise<string | undefined> {
  if (!(await isFirstStart(app, config))) return undefined;
  return (await app.get(KeysService).issue({ name: 'demo', plan: 'free' })).key;
}

async function isFirstStart(app: INestApplicationContext, config: Config): Promise<boolean> {
  if (config.production || !isEmbedded(config.databaseUrl)) return false;
  return app.get(KeysService).isEmpty();
}
