import type { Attributes, Context } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';

/** Where the spans go that make up a trace. There is none unless OpenTelemetry's variables say where to. */
export abstract class Traces {
  /** A span for each request; to be called before anything else is added to the server. */
  abstract follow(server: FastifyInstance): void;

  /** What is under way here, for `tell`. */
  abstract here(): Context;

  /**
   * Tells of something that has just ended, as a part of what is under way. What the service does of its own
   * accord is part of nothing, and not told.
   * @param startedAtMs by `performance.now()`
   */
  abstract tell(name: string, startedAtMs: number, about: Attributes, within?: Context): void;

  abstract traceIdOf(request: Traced): string | undefined;
}

/** A request; what follows it has left its span there. */
export interface Traced {
  opentelemetry?(): { context: Context | null };
}
