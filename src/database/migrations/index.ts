import { CreateSchema1764633600000 } from './1764633600000-create-schema.js';
import { KeyHolders1767225600000 } from './1767225600000-key-holders.js';
import { AdminTokens1769904000000 } from './1769904000000-admin-tokens.js';

/** The migrations of the service, in the order of their timestamps. */
export const MIGRATIONS = [
  CreateSchema1764633600000,
  KeyHolders1767225600000,
  AdminTokens1769904000000,
];
