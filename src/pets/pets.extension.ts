import { defineExtension } from '../extensions/define.js';
import { PET_MIGRATIONS } from './migrations/index.js';
import { petErrors } from './pet.errors.js';
import { PetsModule } from './pets.module.js';
import { seedPets } from './pets.seed.js';

/** The pets of the store. An extension with the same name takes its place. */
export const petsExtension = defineExtension({
  name: 'pets',
  compatibility: '*',
  module: PetsModule,
  migrations: PET_MIGRATIONS,
  scopes: { 'pets:read': 'Read pets.', 'pets:write': 'Add pets.' },
  defaultScopes: ['pets:read', 'pets:write'],
  tags: { pets: 'The pets of the store.' },
  errors: petErrors,
  seed: seedPets,
  from: import.meta.url,
});
