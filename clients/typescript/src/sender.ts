import { type Deprecation, readDeprecation } from './deprecation.js';
import { AuthenticationError, createError, PetStoreError } from './errors.js';
import { exchange, type OutgoingRequest } from './exchange.js';
import type { Usage } from './models.js';
import type { CallOptions, Hooks, PetStoreClientOptions } from './options.js';
import { QuotaGate } from './quota-gate.js';
import { type RateLimitReading, type RateLimitState, readRateLimit } from './rate-limit.js';
import { type BufferedResponse, type Expectation, readResponse } from './read-response.js';
import { delayMs, isRetryable } from './retry.js';
import { type Runtime, serviceTime, sleep } from './runtime.js';

export interface Call extends OutgoingRequest, Expectation {
  /** The name of the operation in hooks. */
  operation: string;
  /** True for getUsage, which consumes no quota and is served during a ban. */
  isFree: boolean;
  /** Revokes the key. */
  endsKey: boolean;
}

export interface Result {
  data: unknown;
  buffered: BufferedResponse;
}

/** Sends calls: waits for quota, makes attempts, and retries. */
export class Sender {
  rateLimit: RateLimitState | undefined;
  private readonly gate: QuotaGate;
  private readonly hooks: Hooks;
  private readonly fetch: typeof globalThis.fetch;
  private readonly maxRetries: number;
  private readonly timeoutMs: number;
  private readonly reportedDeprecations = new Set<string>();
  /** Whether a revocation was sent that may have been executed. */
  private mayHaveEndedKey = false;

  constructor(
    options: PetStoreClientOptions,
    private readonly runtime: Runtime,
  ) {
    this.hooks = options;
    // Browsers reject `fetch` as a method of another object. The late lookup allows it to be
    // replaced.
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
        if (attempt > maxRetries || !isRetryable(error, attempt)) throw error;
        const delay = delayMs(error, attempt, this.runtime.random);
        const { operation } = call;
        this.hooks.onRetry?.({ operation, attempt, error: error as Error, delayMs: delay });
        await sleep(this.runtime, delay, signal);
      }
    }
  }

  private async attempt(call: Call, attempt: number, options: CallOptions): Promise<Result> {
    if (call.isFree) return this.exchange(call, attempt, options);
    await this.gate.enter(options.signal);
    try {
      const result = await this.exchange(call, attempt, options);
      this.gate.leave();
      return result;
    } catch (error) {
      this.gate.leave(error);
      throw error;
    }
  }

  private async exchange(call: Call, attempt: number, options: CallOptions): Promise<Result> {
    const { signal, timeoutMs = this.timeoutMs } = options;
    const { operation, method, url, headers } = call;
    const event = { operation, method, url, headers, attempt };
    this.hooks.onRequest?.(event);
    const { mayHaveEndedKey } = this;
    this.mayHaveEndedKey ||= call.endsKey;
    const sentAt = this.runtime.now();
    const buffered = await exchange(this.fetch, call, { signal, timeoutMs }, this.runtime);
    const durationMs = this.runtime.now() - sentAt;
    const data = this.read(call, buffered, sentAt);
    const { response } = buffered;
    this.hooks.onResponse?.({ ...event, response, status: response.status, durationMs });
    this.reportDeprecation(readDeprecation(operation, response.headers));
    if (call.endsKey && data instanceof AuthenticationError) {
      // An earlier attempt has ended the key, so this one repeats a success.
      if (mayHaveEndedKey) return { data: undefined, buffered };
      this.mayHaveEndedKey = false;
    }
    if (data instanceof PetStoreError) throw data;
    return { data, buffered };
  }

  /** Reads the response and updates the known quota. */
  private read(call: Call, buffered: BufferedResponse, sentAt: number): unknown {
    const { headers } = buffered.response;
    const reading = readRateLimit(headers, serviceTime(headers));
    this.rateLimit = reading?.state ?? this.rateLimit;
    const data = readResponse(buffered, call);
    const error = data instanceof PetStoreError ? data : undefined;
    if (!call.isFree) {
      this.gate.update(reading, error, sentAt);
      return data;
    }
    // Only getUsage and getKey state the ban. Their errors may come from their own limit.
    const usage = error === undefined ? (data as Partial<Usage> | undefined) : undefined;
    const { bannedUntil } = usage ?? {};
    if (bannedUntil !== undefined) {
      this.gate.replace(reading, toBanError(bannedUntil, buffered, reading));
    }
    return data;
  }

  private reportDeprecation(deprecation: Deprecation | undefined): void {
    if (deprecation === undefined || this.reportedDeprecations.has(deprecation.operation)) return;
    this.reportedDeprecations.add(deprecation.operation);
    this.hooks.onDeprecation?.(deprecation);
  }
}

/** Converts the ban in a usage response into the error of a rejected request. */
function toBanError(
  bannedUntil: Usage['bannedUntil'],
  { response }: BufferedResponse,
  reading: RateLimitReading | undefined,
): PetStoreError | undefined {
  if (bannedUntil === null) return undefined;
  return createError({
    code: 'key_banned',
    message: 'This API key is temporarily banned',
    status: 429,
    requestId: response.headers.get('x-request-id') ?? undefined,
    // Both windows of a banned key end with the ban.
    retryAfterSeconds:
      reading?.minuteSeconds ??
      Math.max(1, (bannedUntil.getTime() - serviceTime(response.headers)) / 1000),
  });
}
