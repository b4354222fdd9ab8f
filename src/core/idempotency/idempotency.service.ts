import { Injectable } from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import type { Counter } from 'prom-client';
import { BackgroundTasks, type Flush } from '../database/background-tasks.js';
import { databaseNow } from '../database/database-time.js';
import { Database } from '../database/database.js';
import { deleteInBatches } from '../database/in-batches.js';
import { isHeld } from '../database/database-error.js';
import { inSharedTransaction } from '../database/transactions.js';
import { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { stringifyJson } from '../http/stringify-json.js';
import { parseOwnJson } from '../input/json.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import { IdempotencyRecord } from './idempotency-record.entity.js';
import { ANSWER, CLAIM, FIND } from './idempotency.statements.js';

const KEPT_MS = DAY_MS;
const PURGE_INTERVAL_MS = 600_000;

type StoredResponse = Pick<IdempotencyRecord, 'bodyDigest' | 'answer'>;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** The client under which requests are counted: repeats may have any of its keys. */
  clientId: string;
  idempotencyKey: string;
  /** SHA-256 of the method, the target and the body as sent, base64url. */
  bodyDigest: string;
}

/** The response, as a plain object; undefined if it has no body. */
export interface Outcome {
  response: unknown;
  /** Whether it is the response to an earlier request. */
  isReplay: boolean;
}

/**
 * Runs a request once, however often it is repeated (draft-ietf-httpapi-idempotency-key-header).
 *
 * One transaction inserts a record without an answer, runs the handler, and stores its response in
 * the record. The primary key of the record lets only one request run, on all nodes. A repeat of a
 * finished request reads the record without waiting for a lock.
 */
@Injectable()
export class IdempotencyService {
  /** Deletes the records of more than a day ago. */
  readonly purge: Flush;
  /**
   * First requests of this process that are in progress. A repeat is rejected before it waits for
   * the writer of SQLite, or holds a connection to PostgreSQL.
   */
  private readonly inProgress = new Set<string>();
  private readonly replays: Counter;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    background: BackgroundTasks,
    metrics: Metrics,
  ) {
    this.purge = background.add({
      task: 'delete expired idempotency records',
      intervalMs: PURGE_INTERVAL_MS,
      run: (stop) => this.deleteExpired(stop),
    });
    this.replays = metrics.counter({
      name: 'idempotent_replays_total',
      help: 'Requests answered with a stored response.',
    });
  }

  /**
   * Runs `handle` in one transaction, which also stores what it returns. Everything that `handle`
   * does through TypeORM and table gateways joins the transaction. If the code is already in a
   * transaction, it joins that one. For a repeat, `handle` is not run.
   * @throws {ApiError} 409 `idempotency_key_in_use`, 422 `idempotency_key_reused`
   */
  async runOnce(request: IdempotentRequest, handle: () => Promise<unknown>): Promise<Outcome> {
    const stored = await this.find(request);
    if (stored !== undefined) return stored;
    const name = `${request.clientId}/${request.idempotencyKey}`;
    if (this.inProgress.has(name)) throw inUse();
    this.inProgress.add(name);
    try {
      const { dataSource } = this.database;
      const run = () => this.runAndStore(request, handle);
      return { response: await inSharedTransaction(dataSource, run), isReplay: false };
    } catch (error) {
      // The other request may have committed while the claim waited.
      const latest = isInUse(error) ? await this.find(request) : undefined;
      if (latest === undefined) throw error;
      return latest;
    } finally {
      this.inProgress.delete(name);
    }
  }

  /** @throws {ApiError} 422 if the record is of another request */
  private async find(request: IdempotentRequest): Promise<Outcome | undefined> {
    const { clientId, idempotencyKey } = request;
    const parameters = [clientId, idempotencyKey, this.expiredMs()];
    const [record] = await this.database.query<StoredResponse>(FIND, ...parameters);
    if (record === undefined) return undefined;
    const { bodyDigest, answer } = record;
    if (bodyDigest !== request.bodyDigest) {
      throw errors.idempotency_key_reused('The Idempotency-Key was used for another request');
    }
    this.replays.inc();
    return { response: answer === '' ? undefined : parseOwnJson(answer), isReplay: true };
  }

  private async runAndStore(
    { clientId, idempotencyKey, bodyDigest }: IdempotentRequest,
    handle: () => Promise<unknown>,
  ): Promise<unknown> {
    const claim = [clientId, idempotencyKey, bodyDigest, this.clock.now(), this.expiredMs()];
    const claimed = await this.database.write(CLAIM, ...claim).catch(rejectHeld);
    if (claimed.length === 0) throw inUse();
    // `ClassSerializerInterceptor` of the controller runs later, when the response with what
    // `@Exclude()` leaves out would be stored already.
    const response: unknown = instanceToPlain(await handle());
    const answer = response === undefined ? '' : stringifyJson(response);
    await this.database.write(ANSWER, answer, clientId, idempotencyKey);
    return response;
  }

  /** By the database's clock, because the clock of one node may be ahead. */
  private async deleteExpired(stop: AbortSignal): Promise<void> {
    const { dataSource } = this.database;
    const isExpired = `created_at <= (SELECT ${databaseNow(dataSource)}) - ${KEPT_MS}`;
    const records = dataSource.getRepository(IdempotencyRecord);
    await deleteInBatches(records, isExpired, {}, stop);
  }

  private expiredMs(): number {
    return this.clock.now() - KEPT_MS;
  }
}

/** @throws 409 if another request is about to insert the record */
function rejectHeld(error: unknown): never {
  throw isHeld(error) ? inUse() : error;
}

function inUse(): ApiError {
  return errors.idempotency_key_in_use(
    'The first request with this Idempotency-Key is still in progress',
    { headers: { 'Retry-After': '1' } },
  );
}

function isInUse(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'idempotency_key_in_use';
}
