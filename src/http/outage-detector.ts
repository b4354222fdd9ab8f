/** Tells a failure of something the service depends on, which passes, from a fault of the service. */
export abstract class OutageDetector {
  abstract isOutage(error: unknown): boolean;
}
