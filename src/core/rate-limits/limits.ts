/** The highest limit of a window. Counts stay exact integers. */
export const MAX_QUOTA = 1_000_000_000_000;

/** Requests per minute and per day. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The rate-limit key that a request counts for, and its limits. */
export interface Quota {
  /** Requests with the same key share the quota. */
  key: string;
  limits: Limits;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The window of the plan that rejected the request. */
    fullWindow: 'minute' | 'day' | undefined;
  }
}

/** Metadata of an operation with a separate quota: its `Limits`, undefined without a limit. */
export const SEPARATE_QUOTA = 'petstore:separate-quota';
