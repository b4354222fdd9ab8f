import { CreateSchema1764633600000 } from './1764633600000-create-schema.js';

/** The migrations of the service, in the order of their timestamps. */
export const MIGRATIONS = [CreateSchema1764633600000];
