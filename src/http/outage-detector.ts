/** Distinguishes an outage of a dependency, which is a 503, from a fault of the service. */
export abstract class OutageDetector {
  abstract isOutage(error: unknown): boolean;
}
