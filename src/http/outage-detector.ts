/** Tells a failure of something the service depends on, which passes, from a fault of the service. */
export abstract class OutageDetector {
  abstract isOutage(error: unknown): boolean;
  /** Whether somebody else notices, and says so: not where one statement waited for too long. */
  abstract isNoticed(error: unknown): boolean;
}
