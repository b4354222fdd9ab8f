import { CreatePets1764633600000 } from './1764633600000-create-pets.js';

/** The migrations of pets, in the order of their timestamps. */
export const PET_MIGRATIONS = [CreatePets1764633600000];
