import type { Subject } from './subject.js';

/** No window has more: what is counted stays an integer, whatever is done with it. */
export const MAX_QUOTA = 1_000_000_000_000;

/** What a subject may do in each window. Made once per caller, not once per request. */
export class Limits {
  /** `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers): quota `q` per window of `w` seconds. */
  readonly policy: string;

  constructor(
    readonly perMinute: number,
    readonly perDay: number,
  ) {
    this.policy = `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`;
  }
}

/** Who is counted, and how much it may. */
export interface Quota {
  subject: Subject;
  limits: Limits;
  /** Of a client, for the metrics. */
  plan?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by who found out who the caller is; the throttler guard asks no more than this. */
    quota: Quota | undefined;
  }
}
