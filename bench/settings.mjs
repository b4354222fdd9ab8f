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
/** Requests per second at which every program responds in time. */
export const LOW_RATE = { list: 1_700, get: 2_000, create: 850 };

/**
 * @typedef {{rounds: number, seconds: number, openRounds: number, openSeconds: number,
 *   isShort: boolean}} Pace whole seconds per round; `open...`: of the rounds at a constant rate
 */
/** @type {Pace} */
export const FULL = { rounds: 3, seconds: 3, openRounds: 3, openSeconds: 20, isShort: false };
/** Of the latencies, if they are measured alone. */
export const LONG_OPEN_SECONDS = 60;
/** @returns {Pace} one short round of everything, on little data: to try the bench itself */
export function shortPace(seconds) {
  return { rounds: 1, seconds, openRounds: 1, openSeconds: seconds, isShort: true };
}
/** A server that was idle while others were loaded is cold. */
export const WARM_UP_SECONDS = 1;
/** Until then, V8 compiles what the requests to a new process need. */
export const COMPILED_AFTER_S = 6;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Compares two series round by round.
 * @returns {{ratio: number, least: number, most: number}} median, lowest and highest
 */
export function ratioOf(rounds, reference, of) {
  const ratios = rounds.map((figure, round) => of(figure) / of(reference[round]));
  return { ratio: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}
