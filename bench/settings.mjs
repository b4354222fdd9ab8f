// Settings that all comparisons share.
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const ANIMALS = 100_000;
export const KEYS = 1_000;
export const CONNECTIONS = 64;
export const PAGE = 20;
/** A quota that no load exceeds. */
export const UNLIMITED = 1_000_000_000;
/** The server under test has the first core for itself; load generator, PostgreSQL and Redis have the second. */
export const SERVER_CORE = 0;
export const OTHER_CORE = 1;

/**
 * @typedef {{rounds: number, seconds: number, shortSeconds: number, warmUpSeconds: number}} Pace
 *   `seconds`: per round, for service and floor on SQLite; `shortSeconds`: for everything else. Whole numbers
 */
/** @type {Record<string, Pace>} */
export const PACES = {
  quick: { rounds: 3, seconds: 2, shortSeconds: 2, warmUpSeconds: 1 },
  short: { rounds: 2, seconds: 1, shortSeconds: 1, warmUpSeconds: 1 },
  part: { rounds: 5, seconds: 3, shortSeconds: 1, warmUpSeconds: 1 },
  full: { rounds: 5, seconds: 3, shortSeconds: 2, warmUpSeconds: 1 },
};
