export type Level = 'core' | 'manners' | 'quota' | 'exact';

export interface Options {
  /** The base address, with `/v1`. */
  url: string;
  keys: { main?: string; small?: string; read?: string; spare?: string };
  /** Addresses of other nodes. */
  nodes?: string[];
  /** The address of a proxy, for the checks of request smuggling. */
  proxy?: string;
  levels?: Level[];
  /** Names of checks or groups. */
  only?: string[];
  /** Names of checks that fail, with the reason. */
  expectedFailures?: Record<string, string>;
  onResult?: (result: Result) => void;
  onWait?: (seconds: number, pendingChecks: number) => void;
  /** Milliseconds since the epoch. */
  now?: () => number;
  sleep?: (milliseconds: number) => Promise<void>;
}

export interface Requirement {
  name: string;
  level: Level;
  sentence: string;
  source: string;
  rfc?: string;
}

export interface Result extends Requirement {
  status: 'passed' | 'failed' | 'skipped';
  isExpected: boolean;
  /** Requests by key, without those on raw sockets. */
  sent?: Record<string, number>;
  /** Why it was skipped. */
  reason?: string;
  faults?: string[];
  /** What was sent and received. */
  exchanges?: string[];
}

export interface Report {
  version: string;
  suite: string;
  url: string;
  startedAt: string;
  durationMs: number;
  waitedSeconds: number;
  requests: number;
  petsCreated: number;
  ok: boolean;
  levels: Record<Level, { passed: number; failed: number; skipped: number }>;
  checks: Result[];
}

export const VERSION: string;
export const LEVELS: Level[];
export class UsageError extends Error {}
export function requirements(): { version: string; requirements: Requirement[] };
export function runConformance(options: Options): Promise<Report>;
export function text(report: Report): string;
export function junit(report: Report): string;
export function badge(report: Report): string;
