import { Injectable } from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import type { Counter } from 'prom-client';
import { DataSource } from 'typeorm';
import { BackgroundWriter, type Flush } from '../database/background-writer.js';
import { databaseNow } from '../database/database-time.js';
import { Database } from '../database/database.js';
import { deleteInBatches } from '../database/in-batches.js';
import { isDenied, isHeld } from '../database/outage.js';
import { type LaterInsert, laterInsert } from '../database/later-insert.js';
import { inSharedTransaction } from '../database/transactions.js';
import { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { stringifyJson } from '../http/stringify-json.js';
import { parseOwnJson } from '../input/json.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import { IdempotencyRecord } from './idempotency-record.entity.js';
import { ANSWER, CLAIM, CLAIM_WITH_ANSWER, FIND } from './idempotency.statements.js';

const KEPT_MS = DAY_MS;
const PURGE_INTERVAL_MS = 600_000;

type StoredResponse = Pick<IdempotencyRecord, 'bodyDigest' | 'answer'>;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** The client: repeats may have any of its keys. */
  owner: string;
  idempotencyKey: string;
  /** SHA-256 of the method, the target and the body as sent, base64url. */
  bodyDigest: string;
  /** Whether the handler writes nothing but one row of a table gateway. */
  isSingleInsert: boolean;
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
 * finished request reads the record, and does not wait for a lock.
 */
@Injectable()
export class IdempotencyService {
  /** Deletes the records of more than a day ago. */
  readonly purge: Flush;
  /** Whether the role may draw from sequences. Without the right, inserts are transactions. */
  private mayDrawKeys = true;
  /** First requests of this process that are in progress. */
  private readonly inProgress = new Set<string>();
  private readonly replays: Counter;

  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    writer: BackgroundWriter,
    metrics: Metrics,
  ) {
    this.purge = writer.add({
      task: 'delete expired idempotency records',
      intervalMs: PURGE_INTERVAL_MS,
      write: (stop) => this.deleteExpired(stop),
    });
    this.replays = metrics.counter({
      name: 'idempotent_replays_total',
      help: 'Requests that were answered from a stored idempotent response.',
    });
  }

  /**
   * Runs `handle` in one transaction, which also stores what it returns. Everything that `handle`
   * does through TypeORM and table gateways joins the transaction. For a repeat, it is not run.
   * @throws {ApiError} 409 `idempotency_key_in_use`, 422 `idempotency_key_reused`
   */
  async runOnce(request: IdempotentRequest, handle: () => Promise<unknown>): Promise<Outcome> {
    const stored = await this.find(request);
    if (stored !== undefined) return stored;
    const name = `${request.owner}/${request.idempotencyKey}`;
    if (this.inProgress.has(name)) throw inUse();
    this.inProgress.add(name);
    try {
      return { response: await this.runFirst(request, handle), isReplay: false };
    } catch (error) {
      const latest = isInUse(error) ? await this.find(request) : undefined;
      if (latest === undefined) throw error;
      return latest;
    } finally {
      this.inProgress.delete(name);
    }
  }

  /** @throws {ApiError} 422 if the record is of another request */
  private async find(request: IdempotentRequest): Promise<Outcome | undefined> {
    const { owner, idempotencyKey } = request;
    const parameters = [owner, idempotencyKey, this.expiredMs()];
    const [record] = await this.database.query<StoredResponse>(FIND, ...parameters);
    if (record === undefined) return undefined;
    const { bodyDigest, answer } = record;
    if (bodyDigest !== request.bodyDigest) {
      throw errors.idempotency_key_reused('The Idempotency-Key was used for another request');
    }
    this.replays.inc();
    return { response: answer === '' ? undefined : parseOwnJson(answer), isReplay: true };
  }

  private async runFirst(
    request: IdempotentRequest,
    handle: () => Promise<unknown>,
  ): Promise<unknown> {
    const insert = request.isSingleInsert && laterInsert(this.dataSource, CLAIM_WITH_ANSWER);
    if (insert && this.mayDrawKeys) {
      try {
        return await this.runAndInsert(request, insert, handle);
      } catch (error) {
        if (!isDenied(error)) throw error;
        this.mayDrawKeys = false;
      }
    }
    return inSharedTransaction(this.dataSource, () => this.runAndStore(request, handle));
  }

  /** Runs `handle`, then inserts its row and the record in one statement. */
  private async runAndInsert(
    request: IdempotentRequest,
    later: LaterInsert,
    handle: () => Promise<unknown>,
  ): Promise<unknown> {
    const { transactions } = this.database.dataSource;
    const response: unknown = instanceToPlain(await transactions.runBefore(later, handle));
    const { owner, idempotencyKey, bodyDigest } = request;
    const claim = [owner, idempotencyKey, bodyDigest, this.clock.now(), answerOf(response)];
    if (!(await later.run(claim).catch(rejectHeld))) throw inUse();
    return response;
  }

  private async runAndStore(
    { owner, idempotencyKey, bodyDigest }: IdempotentRequest,
    handle: () => Promise<unknown>,
  ): Promise<unknown> {
    const claim = [owner, idempotencyKey, bodyDigest, this.clock.now(), this.expiredMs()];
    const claimed = await this.database.write(CLAIM, ...claim).catch(rejectHeld);
    if (claimed.length === 0) throw inUse();
    // Applies `@Exclude()` before the response is stored: a serializer of the class runs later.
    const response: unknown = instanceToPlain(await handle());
    await this.database.write(ANSWER, answerOf(response), owner, idempotencyKey);
    return response;
  }

  /** By the database's clock, because the clock of one node may be ahead. */
  private async deleteExpired(stop: AbortSignal): Promise<void> {
    const isExpired = `created_at <= (SELECT ${databaseNow(this.dataSource)}) - ${KEPT_MS}`;
    const records = this.dataSource.getRepository(IdempotencyRecord);
    await deleteInBatches(records, isExpired, {}, stop);
  }

  private expiredMs(): number {
    return this.clock.now() - KEPT_MS;
  }
}

function answerOf(response: unknown): string {
  return response === undefined ? '' : stringifyJson(response);
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
