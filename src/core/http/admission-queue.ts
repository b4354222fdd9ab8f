import { AsyncResource } from 'node:async_hooks';

/**
 * Requests started per tick. Beyond this, the garbage of a request survives a scavenge and is
 * promoted.
 */
const MAX_PER_TICK = 64;
const MIN_PER_TICK = 4;
/** Probes of a load balancer that start although the tick is full. */
const PROBES_PER_TICK = 4;
/** Ticks in a row that accept a connection and start no request. */
const MAX_ACCEPTING_TICKS = 16;

/** A request that waits, with the async context in which it was queued. */
class QueuedRequest extends AsyncResource {
  readonly sinceMs = performance.now();

  constructor(readonly start: () => void) {
    super('QueuedRequest');
  }
}

/**
 * Starts requests in bounded batches, one batch per tick of the event loop, in their order of
 * arrival.
 *
 * A batch is (started in the previous tick + waiting) / 2 requests, between 4 and 64. While the
 * clients of one half read their responses and ask again, the server works on the other half, so
 * neither side waits for the other. Timers and socket writes run between two batches, however many
 * requests arrive.
 *
 * It saves 28 % of a get and 30 % of a list at 64 connections, and 23 % and 27 % at a constant rate
 * (decision 11).
 *
 * The queue belongs to no request: its ticks run in the async context in which it was created, and
 * each request starts in its own.
 *
 * libuv accepts one connection per tick. While ticks bring new connections, up to 16 in a row start
 * no request, so that a thousand clients that connect at once are accepted within a few
 * milliseconds.
 */
export class AdmissionQueue {
  private readonly ticks = new AsyncResource('AdmissionQueue');
  private queued: QueuedRequest[] = [];
  private started = 0;
  private maxPerTick = MAX_PER_TICK;
  private longestWaitMs = 0;
  private hasNewConnection = false;
  private acceptingTicks = 0;

  /**
   * Starts the request immediately if there is capacity in this tick, otherwise queues it.
   * @param isProbe whether it may overtake: load balancers probe an overloaded server too
   */
  enqueue(start: () => void, isProbe = false): void {
    const most = this.maxPerTick + (isProbe ? PROBES_PER_TICK : 0);
    if (this.started >= most || (this.queued.length > 0 && !isProbe)) {
      this.queued.push(new QueuedRequest(start));
      return;
    }
    if (this.started === 0) this.ticks.runInAsyncScope(setImmediate, undefined, this.endTick);
    this.started++;
    start();
  }

  connectionAccepted(): void {
    this.hasNewConnection = true;
  }

  /**
   * @returns the longest time in milliseconds that a request started since the last call had to
   *   wait
   */
  takeLongestWaitMs(): number {
    const longestMs = this.longestWaitMs;
    this.longestWaitMs = 0;
    return longestMs;
  }

  private readonly endTick = (): void => {
    if (this.isAccepting()) {
      setImmediate(this.endTick);
      return;
    }
    const half = Math.ceil((this.started + this.queued.length) / 2);
    this.maxPerTick = Math.min(Math.max(half, MIN_PER_TICK), MAX_PER_TICK);
    const batch = this.queued.splice(0, this.maxPerTick);
    this.started = batch.length;
    if (batch.length === 0) return;
    setImmediate(this.endTick);
    this.longestWaitMs = Math.max(this.longestWaitMs, performance.now() - batch[0]!.sinceMs);
    for (const request of batch) request.runInAsyncScope(request.start);
  };

  private isAccepting(): boolean {
    const isWaiting = this.hasNewConnection && this.queued.length > 0;
    const isAccepting = isWaiting && this.acceptingTicks < MAX_ACCEPTING_TICKS;
    this.hasNewConnection = false;
    this.acceptingTicks = isAccepting ? this.acceptingTicks + 1 : 0;
    return isAccepting;
  }
}
