// Settings that all comparisons share.
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const ANIMALS = 100_000;
export const KEYS = 1_000;
export const CONNECTIONS = 64;
export const PAGE = 20;
/** The public address of every program, so that their links are equal. */
export const ADDRESS = 'http://localhost:3000';
/** A quota that no load exceeds. */
export const UNLIMITED = 1_000_000_000;
/** The server under test has the first core for itself; load generator, PostgreSQL and Redis have the second. */
export const SERVER_CORE = 0;
export const OTHER_CORE = 1;

/**
 * @typedef {{rounds: number, seconds: number, warmUpSeconds: number, openRounds: number, openSeconds: number}} Pace
 *   `seconds`: per round, whole numbers; `open...`: of the latency at a constant arrival rate
 */
/** @type {Record<string, Pace>} */
export const PACES = {
  quick: { rounds: 3, seconds: 2, warmUpSeconds: 1, openRounds: 0, openSeconds: 0 },
  short: { rounds: 1, seconds: 1, warmUpSeconds: 1, openRounds: 1, openSeconds: 1 },
  full: { rounds: 5, seconds: 3, warmUpSeconds: 1, openRounds: 3, openSeconds: 5 },
};
