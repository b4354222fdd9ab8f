import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../config/clock.js';
import { Engine } from '../database/engine.js';
import { run, Statement, type Work } from '../database/statement.js';
import { ApiError } from '../http/api-error.js';
import { Logger } from '../telemetry/logger.js';
import type { IdempotentRequest } from './idempotent-request.js';

const KEPT_MS = 86_400_000;
const PURGE_INTERVAL_MS = 600_000;

/** What a request created: its JSON text, and its path relative to the base address. */
export interface Creation {
  answer: string;
  location: string;
}

/** @property replayed whether this is the answer to an earlier request */
export interface IdempotentCreation extends Creation {
  replayed: boolean;
}

const FIND = new Statement<Creation & { bodyDigest: string }>(
  'idempotency.find',
  () => `SELECT body_digest AS "bodyDigest", answer, location FROM idempotency_records
    WHERE key_id = $1 AND idempotency_key = $2 AND created_at > $3`,
);
const REMEMBER = new Statement(
  'idempotency.remember',
  () => `INSERT INTO idempotency_records
      (key_id, idempotency_key, body_digest, answer, location, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (key_id, idempotency_key) DO UPDATE SET body_digest = excluded.body_digest,
      answer = excluded.answer, location = excluded.location, created_at = excluded.created_at`,
);
const PURGE = new Statement(
  'idempotency.purge',
  () => 'DELETE FROM idempotency_records WHERE created_at <= $1',
);

/** Creates once, however often a request is repeated (draft-ietf-httpapi-idempotency-key-header). */
@Injectable()
export class IdempotencyService implements OnModuleInit, OnApplicationShutdown {
  /** First requests of this process that are still under way. */
  private readonly underWay = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.purge(), PURGE_INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Runs `work` in one durable transaction, with the record of its answer where the request has a key.
   * @throws {ApiError} 409 `idempotency_key_in_use`, 422 `idempotency_key_reused`
   */
  async create(
    request: IdempotentRequest | undefined,
    work: () => Work<Creation>,
  ): Promise<IdempotentCreation> {
    if (request === undefined) {
      return { ...(await this.engine.write(work)), replayed: false };
    }
    const name = `${request.keyId}/${request.idempotencyKey}`;
    if (this.underWay.has(name)) throw inUse();
    this.underWay.add(name);
    try {
      const bodyDigest = request.bodyDigest();
      return await this.engine.write(() => this.once(request, name, bodyDigest, work));
    } finally {
      this.underWay.delete(name);
    }
  }

  private *once(
    { keyId, idempotencyKey }: IdempotentRequest,
    name: string,
    bodyDigest: string,
    work: () => Work<Creation>,
  ): Work<IdempotentCreation> {
    if (!(yield* this.engine.tryLock(name))) throw inUse();
    const nowMs = this.clock.now();
    const [first] = yield* run(FIND, keyId, idempotencyKey, nowMs - KEPT_MS);
    if (first !== undefined) {
      if (first.bodyDigest !== bodyDigest) {
        throw new ApiError(
          'idempotency_key_reused',
          'The Idempotency-Key was used with another body',
        );
      }
      return { answer: first.answer, location: first.location, replayed: true };
    }
    const { answer, location } = yield* work();
    yield* run(REMEMBER, keyId, idempotencyKey, bodyDigest, answer, location, nowMs);
    return { answer, location, replayed: false };
  }

  private async purge(): Promise<void> {
    try {
      await this.engine.write(() => run(PURGE, this.clock.now() - KEPT_MS));
    } catch (err) {
      this.logger.warn({ err }, 'Old idempotency records could not be removed; tried again later');
    }
  }
}

function inUse(): ApiError {
  return new ApiError(
    'idempotency_key_in_use',
    'The first request with this Idempotency-Key is still under way',
    { headers: { 'Retry-After': '1' } },
  );
}
