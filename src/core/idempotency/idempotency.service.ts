import { Injectable } from '@nestjs/common';
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
import { CLAIM, FIND, STORE } from './idempotency.statements.js';

const KEPT_MS = DAY_MS;
const PURGE_INTERVAL_MS = 600_000;

/** A request with an `Idempotency-Key`. */
export type IdempotentRequest = Pick<
  IdempotencyRecord,
  'clientId' | 'idempotencyKey' | 'bodyDigest'
>;

/**
 * Runs a request once, however often it is repeated (draft-ietf-httpapi-idempotency-key-header).
 *
 * One transaction inserts a record without a response, runs the handler, and stores its response in
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
      help: 'Requests that got a stored response.',
    });
  }

  /**
   * Runs `handle` in one transaction, which also stores what it returns. Everything that `handle`
   * does through TypeORM and table gateways joins the transaction. If the code is already in a
   * transaction, it joins that one. For a repeat, `handle` is not run.
   * @param handle returns the response as plain JSON values, undefined if it has no body
   * @returns what `handle` returned; `isReplay`: to an earlier request
   * @throws {ApiError} 409 `idempotency_key_in_use`, 422 `idempotency_key_reused`
   */
  async runOnce(request: IdempotentRequest, handle: () => Promise<unknown>) {
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
  private async find(request: IdempotentRequest) {
    const { clientId, idempotencyKey } = request;
    const [record] = await this.database.query<Pick<IdempotencyRecord, 'bodyDigest' | 'response'>>(
      FIND,
      clientId,
      idempotencyKey,
      this.expiredMs(),
    );
    if (record === undefined) return undefined;
    const { bodyDigest, response } = record;
    if (bodyDigest !== request.bodyDigest) {
      throw errors.idempotency_key_reused('The Idempotency-Key was used for another request');
    }
    this.replays.inc();
    return { response: response === '' ? undefined : parseOwnJson(response), isReplay: true };
  }

  private async runAndStore(
    { clientId, idempotencyKey, bodyDigest }: IdempotentRequest,
    handle: () => Promise<unknown>,
  ): Promise<unknown> {
    const claim = [clientId, idempotencyKey, bodyDigest, this.clock.now(), this.expiredMs()];
    const claimed = await this.database.write(CLAIM, ...claim).catch(rejectHeld);
    if (claimed.length === 0) throw inUse();
    const response = await handle();
    const text = response === undefined ? '' : stringifyJson(response);
    await this.database.write(STORE, text, clientId, idempotencyKey);
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
