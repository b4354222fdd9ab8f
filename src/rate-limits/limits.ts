/** The highest limit of a window. Counts stay exact integers. */
export const MAX_QUOTA = 1_000_000_000_000;

/** Requests per minute and per day. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/**
 * A limit of one operation for each client, in addition to the plan's limits, from `@Throttle()`.
 */
export interface FurtherLimit {
  /** The same on every node. */
  operation: string;
  limit: number;
  /** Length of its windows, which are aligned to Unix time. */
  ttlMs: number;
}

/** The subject that a request counts for, and its limits. */
export interface Quota {
  subject: string;
  limits: Limits;
  /** The plan of a client, for the metrics. */
  plan?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by authentication; the throttler guard needs nothing else of the caller. */
    quota: Quota | undefined;
    /** The window of the plan that rejected the request. */
    fullWindow: 'minute' | 'day' | undefined;
  }
}

/** Metadata of an operation with a separate quota: its `Limits`, undefined without a limit. */
export const SEPARATE_QUOTA = 'petstore:separate-quota';
