// Numbers that all measurements share.
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const PETS = 100_000;
export const KEYS = 1_000;
export const CONNECTIONS = 64;
export const PAGE = 20;
/** The public address of every program, so that their links are equal. */
export const ADDRESS = 'http://localhost:3000';
/** A quota that no load exceeds. */
export const UNLIMITED = 1_000_000_000;
/** The server under test has a core for itself; load generator, PostgreSQL and Redis share one. */
export const SERVER_CORE = '0';
export const OTHER_CORE = '1';
/**
 * Requests per second at which every program responds in time. PostgreSQL shares the core of the
 * load generator, and builds Go's lists as JSON there.
 */
export const LOW_RATE = {
  sqlite: { list: 1_700, get: 2_000, create: 850 },
  postgres: { list: 1_000, get: 2_000, create: 850 },
};

/**
 * @typedef {{rounds: number, seconds: number, openRounds: number, openSeconds: number,
 *   isShort: boolean}} Pace whole seconds per round; `open...`: of the rounds at a constant rate
 */
/** @type {Pace} */
export const FULL = { rounds: 6, seconds: 2, openRounds: 3, openSeconds: 20, isShort: false };
/** Of the latencies, if they are measured alone. */
export const LONG_OPEN_SECONDS = 60;
/** @returns {Pace} one short round of everything, on little data: to try the bench itself */
export function shortPace(seconds) {
  return { rounds: 1, seconds, openRounds: 1, openSeconds: seconds, isShort: true };
}
/** Before a constant rate is measured: the load generator opens its connections. */
export const WARM_UP_SECONDS = 1;
/** Until then, V8 compiles what the requests to a new process need. */
export const COMPILED_AFTER_S = 6;
