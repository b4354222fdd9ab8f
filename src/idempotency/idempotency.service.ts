import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { DataSource, type EntityManager, LessThanOrEqual } from 'typeorm';
import { databaseNow } from '../database/database-time.js';
import { Database, type Parameter, type Statement } from '../database/database.js';
import { inBatches } from '../database/in-batches.js';
import { isConflict, isDuplicate, isHeld } from '../database/outage.js';
import { inSharedTransaction } from '../database/shared-transaction.js';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { stringifyJson } from '../http/stringify-json.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import type { IdempotentRequest } from './idempotency-key.decorator.js';
import { IdempotencyRecord } from './idempotency-record.entity.js';
import { FIND, LOCK_TIMEOUT } from './idempotency.statements.js';

const KEPT_MS = DAY_MS;
const PURGE_INTERVAL_MS = 600_000;
const MAX_ATTEMPTS = 5;

type StoredResponse = Pick<IdempotencyRecord, 'bodyDigest' | 'answer'>;

/** The response to a request, or the stored JSON text of the response to an earlier one. */
export type Outcome<Result> =
  { isReplay: false; result: Result } | { isReplay: true; answer: string };

/** A record of the request exists; `once()` answers from it. */
class RepeatedError extends Error {}

/**
 * Creates once, however often a request is repeated (draft-ietf-httpapi-idempotency-key-header). The record of the
 * response is written in the transaction that creates; its primary key makes repeats exclusive, on all nodes. A repeat
 * of a finished request is answered without a lock.
 */
@Injectable()
export class IdempotencyService implements OnModuleInit, OnApplicationShutdown {
  /** First requests of this process that are in progress. */
  private readonly inProgress = new Set<string>();
  private readonly stop = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private readonly replays: Counter;

  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.replays = metrics.counter({
      name: 'idempotent_replays_total',
      help: 'Requests that were answered with the response to an earlier one with their Idempotency-Key.',
    });
  }

  onModuleInit(): void {
    this.timer = setInterval(() => void this.purge(), PURGE_INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.stop.abort();
  }

  /**
   * Runs `attempt`, which calls `insert()`, unless there is a record of the request.
   * @throws {ApiError} 409, 422
   */
  once<Result>(
    request: IdempotentRequest,
    attempt: () => Promise<Result>,
  ): Promise<Outcome<Result>> {
    // PostgreSQL finds a repeat by the insert: a look-up before it would be a second round trip for every request.
    return this.run(request, attempt, { looksFirst: !this.isPostgres });
  }

  /**
   * Inserts a row and the record of the response, `{"id": <generated id>, ...members}`.
   * @param statement of `insertOnceStatement()`
   * @returns the id
   * @throws {ApiError} 409 `idempotency_key_in_use`
   */
  async insert(
    { keyId, idempotencyKey, bodyDigest }: IdempotentRequest,
    statement: Statement,
    parameters: readonly Parameter[],
    members: object,
  ): Promise<string> {
    const rest = stringifyJson(members).replace('{', ',');
    for (let isRepeated = false; ; isRepeated = true) {
      const record = [keyId, idempotencyKey, bodyDigest(), rest, this.clock.now()];
      try {
        const [row] = await this.database.write<{ id: string }>(
          statement,
          ...parameters,
          ...record,
        );
        return row!.id;
      } catch (error) {
        if (isHeld(error)) throw inUse();
        if (!isDuplicate(error)) throw error;
      }
      const expired = { keyId, idempotencyKey, createdAt: LessThanOrEqual(this.expiredMs()) };
      const { affected } = await this.dataSource.manager.delete(IdempotencyRecord, expired);
      if (!affected || isRepeated) throw new RepeatedError();
    }
  }

  /**
   * Runs `work` in one transaction, which everything joins that it does through TypeORM, together with the record of
   * its response. For a repeat, `work` is not run.
   * @param request of `@IdempotencyKey()`; without one, nothing is recorded
   * @param work resolves to the JSON text of the response
   * @throws {ApiError} 409, 422
   */
  async transact(
    request: IdempotentRequest | undefined,
    work: (manager: EntityManager) => Promise<string>,
  ): Promise<{ answer: string; replayed: boolean }> {
    if (request === undefined) {
      return { answer: await inSharedTransaction(this.dataSource, work), replayed: false };
    }
    const attempt = async (manager: EntityManager): Promise<string> => {
      await this.claim(manager, request);
      const answer = await work(manager);
      const { keyId, idempotencyKey } = request;
      await manager.update(IdempotencyRecord, { keyId, idempotencyKey }, { answer });
      return answer;
    };
    const transact = () => repeatConflicts(() => inSharedTransaction(this.dataSource, attempt));
    const outcome = await this.run(request, transact, { looksFirst: true });
    const replayed = outcome.isReplay;
    return { answer: replayed ? outcome.answer : outcome.result, replayed };
  }

  private async run<Result>(
    request: IdempotentRequest,
    attempt: () => Promise<Result>,
    { looksFirst }: { looksFirst: boolean },
  ): Promise<Outcome<Result>> {
    const name = `${request.keyId}/${request.idempotencyKey}`;
    if (looksFirst || this.inProgress.has(name)) {
      const answer = await this.find(request);
      if (answer !== undefined) return { isReplay: true, answer };
      if (this.inProgress.has(name)) throw inUse();
    }
    this.inProgress.add(name);
    try {
      return { isReplay: false, result: await attempt() };
    } catch (error) {
      if (!(error instanceof RepeatedError)) throw error;
      const answer = await this.find(request);
      if (answer === undefined) throw inUse();
      return { isReplay: true, answer };
    } finally {
      this.inProgress.delete(name);
    }
  }

  /** @throws {ApiError} 422 if the record is of a request with another body */
  private async find(request: IdempotentRequest): Promise<string | undefined> {
    const { keyId, idempotencyKey } = request;
    const parameters = [keyId, idempotencyKey, this.expiredMs()];
    const [record] = await this.database.query<StoredResponse>(FIND, ...parameters);
    if (record === undefined) return undefined;
    if (record.bodyDigest !== request.bodyDigest()) {
      throw errors.idempotency_key_reused('The Idempotency-Key was used with another body');
    }
    this.replays.inc();
    return record.answer;
  }

  /**
   * Inserts the record before the work, so that of two requests only one runs it.
   * @throws {RepeatedError}
   */
  private async claim(manager: EntityManager, request: IdempotentRequest): Promise<void> {
    const { keyId, idempotencyKey } = request;
    if (this.isPostgres) await manager.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    try {
      const claimed = await manager.sql<unknown[]>`INSERT INTO idempotency_records
          (key_id, idempotency_key, body_digest, answer, created_at)
        VALUES (${keyId}, ${idempotencyKey}, ${request.bodyDigest()}, '', ${this.clock.now()})
        ON CONFLICT (key_id, idempotency_key) DO UPDATE
          SET body_digest = excluded.body_digest, created_at = excluded.created_at
          WHERE idempotency_records.created_at <= ${this.expiredMs()}
        RETURNING key_id`;
      if (claimed.length === 0) throw new RepeatedError();
    } catch (error) {
      throw isHeld(error) ? inUse() : error;
    }
    if (this.isPostgres) await manager.query('SET LOCAL lock_timeout TO DEFAULT');
  }

  /** Deletes the records of more than a day ago. */
  async purge(): Promise<void> {
    try {
      await inBatches((rows) => this.purgeSome(rows), this.stop.signal);
    } catch (err) {
      this.logger.warn({ err }, 'Expired idempotency records could not be deleted; retrying later');
    }
  }

  /** By the database's clock: the clock of one node may be ahead. A record that is locked is about to be used again. */
  private async purgeSome(rows: number): Promise<number> {
    const isExpired = `created_at <= (SELECT ${databaseNow(this.dataSource)}) - ${KEPT_MS}`;
    const { affected } = await this.dataSource
      .createQueryBuilder()
      .delete()
      .from(IdempotencyRecord)
      .where(
        `(key_id, idempotency_key) IN (
          SELECT key_id, idempotency_key FROM idempotency_records WHERE ${isExpired}
          ORDER BY created_at LIMIT :rows ${this.isPostgres ? 'FOR UPDATE SKIP LOCKED' : ''}) AND ${isExpired}`,
        { rows },
      )
      .execute();
    return affected ?? 0;
  }

  private get isPostgres(): boolean {
    return this.dataSource.options.type === 'postgres';
  }

  private expiredMs(): number {
    return this.clock.now() - KEPT_MS;
  }
}

/** PostgreSQL rolls back one of several transactions that conflict: repeated, it succeeds or conflicts with another. */
function repeatConflicts<Result>(
  attempt: () => Promise<Result>,
  left = MAX_ATTEMPTS,
): Promise<Result> {
  return attempt().catch((error: unknown) => {
    if (!isConflict(error) || left === 1) throw error;
    return repeatConflicts(attempt, left - 1);
  });
}

function inUse(): ApiError {
  return errors.idempotency_key_in_use(
    'The first request with this Idempotency-Key is still under way',
    { headers: { 'Retry-After': '1' } },
  );
}
