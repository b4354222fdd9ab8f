import type { components } from './schema.js';

type Schemas = components['schemas'];

export type Pet = Schemas['Pet'];
export type NewPet = Schemas['NewPet'];
export type PetStatus = Schemas['PetStatus'];
export type Usage = Schemas['Usage'];
export type UsageHistory = Schemas['UsageHistory'];
export type Key = Schemas['Key'];
export type RotatedKey = Schemas['RotatedKey'];
