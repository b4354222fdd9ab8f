import { type Answer, type Expected, readAnswer } from './answer.js';
import { readDeprecation } from './deprecation.js';
import { PetStoreError } from './errors.js';
import { exchange, type Outgoing } from './exchange.js';
import type { Usage } from './models.js';
import type { CallOptions, Hooks, PetStoreClientOptions } from './options.js';
import { QuotaGate } from './quota-gate.js';
import { type RateLimitReading, type RateLimitState, readRateLimit } from './rate-limit.js';
import { delayMs, isWorthRetrying } from './retry.js';
import { type Runtime, sleep } from './runtime.js';

/** More than a service has. What goes beyond is told of as one thing each, and was told of often enough. */
const MOST_TOLD = 1_000;

export interface Call extends Outgoing, Expected {
  /** What the call is named in hooks. */
  operation: string;
  /** Of getUsage, which is answered whatever is left of the quota. */
  isFree: boolean;
}

export interface Result {
  data: unknown;
  answer: Answer;
}

/** Carries out calls: waits for room, tries, and tries again. */
export class Sender {
  rateLimit: RateLimitState | undefined;
  private readonly gate: QuotaGate;
  private readonly hooks: Hooks;
  private readonly fetch: typeof globalThis.fetch;
  private readonly maxRetries: number;
  private readonly timeoutMs: number;
  private readonly toldDeprecated = new Set<string>();

  constructor(
    options: PetStoreClientOptions,
    private readonly runtime: Runtime,
  ) {
    this.hooks = options;
    // Looked up late, and called as a function: browsers refuse it as a method of anything else.
    this.fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.maxRetries = options.maxRetries ?? 4;
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.gate = new QuotaGate(runtime);
  }

  async send(call: Call, options: CallOptions): Promise<Result> {
    const { signal, maxRetries = this.maxRetries } = options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(call, attempt, options);
      } catch (error) {
        if (attempt > maxRetries || !isWorthRetrying(error, attempt)) throw error;
        const delay = delayMs(error, attempt, this.runtime.random);
        const { operation } = call;
        this.hooks.onRetry?.({ operation, attempt, error: error as Error, delayMs: delay });
        await sleep(this.runtime, delay, signal);
      }
    }
  }

  private async attempt(call: Call, attempt: number, options: CallOptions): Promise<Result> {
    const { signal, timeoutMs = this.timeoutMs } = options;
    const waitedMs = call.isFree ? 0 : await this.gate.pass(signal, timeoutMs);
    const sentAt = this.runtime.now();
    // What was given up, or broke, tells nothing of how long answers take.
    let tookMs: number | undefined;
    try {
      const { operation, method, url, headers } = call;
      const event = { operation, method, url, headers, attempt };
      this.hooks.onRequest?.(event);
      const limits = { signal, timeoutMs, waitedMs };
      const answer = await exchange(this.fetch, call, limits, this.runtime);
      const durationMs = (tookMs = this.runtime.now() - sentAt);
      const result = this.conclude(call, answer);
      const { response } = answer;
      this.hooks.onResponse?.({ ...event, response, status: response.status, durationMs });
      this.tellDeprecation(operation, response.headers);
      if (result instanceof PetStoreError) throw result;
      return { data: result, answer };
    } finally {
      if (!call.isFree) this.gate.leave(tookMs);
    }
  }

  /** Reads the answer, and learns from it what is left. */
  private conclude(call: Call, answer: Answer): unknown {
    const reading = readRateLimit(answer.response.headers, Date.now());
    this.rateLimit = reading?.state ?? this.rateLimit;
    const result = readAnswer(answer, call);
    const refusal = result instanceof PetStoreError ? result : undefined;
    if (!call.isFree) this.gate.learn(reading, refusal);
    // Its refusals are for limits of its own.
    else if (refusal === undefined) {
      this.gate.learnUsage(reading, banOf(result as Usage, answer, reading));
    }
    return result;
  }

  private tellDeprecation(operation: string, headers: Headers): void {
    const { onDeprecation } = this.hooks;
    if (onDeprecation === undefined || this.toldDeprecated.has(operation)) return;
    if (this.toldDeprecated.size === MOST_TOLD) return;
    const deprecation = readDeprecation(operation, headers);
    if (deprecation === undefined) return;
    this.toldDeprecated.add(operation);
    onDeprecation(deprecation);
  }
}

/** The ban that a usage tells of, as a refused request would be told of it. */
function banOf(
  { bannedUntil }: Usage,
  { response }: Answer,
  reading: RateLimitReading | undefined,
): PetStoreError | undefined {
  if (bannedUntil === null) return undefined;
  return new PetStoreError({
    code: 'key_banned',
    message: 'The key is banned',
    status: 429,
    requestId: response.headers.get('x-request-id') ?? undefined,
    // Both windows of a banned key end with the ban.
    retryAfterSeconds: reading?.minuteSeconds ?? Math.max(1, bannedUntil - Date.now() / 1000),
  });
}
