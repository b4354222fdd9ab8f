import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { isEmbedded } from '../database/data-source-options.js';
import { KeysService } from '../keys/keys.service.js';
import { PetsRepository } from '../pets/pets.repository.js';

/** More than a page, so that there is a next one to see. */
const ANIMALS = 30;

/** Whether somebody starts the embedded default for the first time, to try it. */
async function isFirstStart(app: INestApplicationContext, config: Config): Promise<boolean> {
  return (
    !config.production && isEmbedded(config.databaseUrl) && (await app.get(KeysService).isEmpty())
  );
}

/** Made-up animals where there are none at the first start; how many. */
export async function offerAnimals(app: INestApplicationContext, config: Config): Promise<number> {
  const pets = app.get(PetsRepository);
  if (!(await isFirstStart(app, config)) || !(await pets.isEmpty())) return 0;
  await pets.seed(ANIMALS);
  return ANIMALS;
}

/** A key to try it with; to be issued once the server listens, since it is shown only then. */
export async function firstKey(
  app: INestApplicationContext,
  config: Config,
): Promise<string | undefined> {
  if (!(await isFirstStart(app, config))) return undefined;
  return (await app.get(KeysService).issue({ name: 'demo', plan: 'free' })).key;
}
