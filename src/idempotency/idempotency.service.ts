import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { DataSource, type EntityManager, LessThanOrEqual } from 'typeorm';
import { BackgroundWriter, type Flush } from '../database/background-writer.js';
import { databaseNow } from '../database/database-time.js';
import { Database, type Parameter, type Statement } from '../database/database.js';
import { deleteInBatches } from '../database/in-batches.js';
import { isDuplicate, isHeld } from '../database/outage.js';
import { inSharedTransaction } from '../database/transactions.js';
import { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { stringifyJson } from '../http/stringify-json.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import { IdempotencyRecord } from './idempotency-record.entity.js';
import { FIND, LOCK_TIMEOUT } from './idempotency.statements.js';

const KEPT_MS = DAY_MS;
const PURGE_INTERVAL_MS = 600_000;

type StoredResponse = Pick<IdempotencyRecord, 'bodyDigest' | 'answer'>;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  keyId: string;
  idempotencyKey: string;
  /** SHA-256 of the method, the target and the body as sent, base64url. */
  bodyDigest: string;
  /** Adds `Idempotent-Replayed` to the response. */
  markReplayed: () => void;
}

/** The JSON text of the response, which may be that of an earlier request. */
export interface Outcome {
  answer: string;
  replayed: boolean;
}

/**
 * Creates once, however often a request is repeated (draft-ietf-httpapi-idempotency-key-header).
 * The transaction that creates also writes the record of the response. The primary key of the
 * record lets only one request create, on all nodes. A repeat of a finished request does not wait
 * for a lock.
 */
@Injectable()
export class IdempotencyService {
  /** Deletes the records of more than a day ago. */
  readonly purge: Flush;
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
      help: 'Requests that were answered with the response to an earlier one with their Idempotency-Key.',
    });
  }

  /**
   * Inserts a row and the record of the response, `{"id": <generated id>, ...members}`. For a
   * repeat, nothing is inserted.
   * @param statement of `insertOnceStatement()`
   * @throws {ApiError} 409, 422
   */
  insert(
    request: IdempotentRequest,
    statement: Statement,
    parameters: readonly Parameter[],
    members: object,
  ): Promise<Outcome> {
    const { keyId, idempotencyKey, bodyDigest } = request;
    const rest = stringifyJson(members).replace('{', ',');
    return this.once(request, async () => {
      const record = [keyId, idempotencyKey, bodyDigest, rest, this.clock.now()];
      const [row] = await this.database
        .write<{ id: string }>(statement, ...parameters, ...record)
        .catch(rejectRepeat);
      if (row === undefined) throw inUse();
      return `{"id":${row.id}${rest}`;
    });
  }

  /**
   * Runs `work` in one transaction, which also stores the response. Everything that `work` does
   * through TypeORM joins the transaction. For a repeat, `work` is not run.
   * @param request value of `@IdempotencyKey()`; without it, nothing is stored
   * @param work resolves to the JSON text of the response
   * @throws {ApiError} 409, 422
   */
  async transact(
    request: IdempotentRequest | undefined,
    work: (manager: EntityManager) => Promise<string>,
  ): Promise<Outcome> {
    if (request === undefined) {
      return { answer: await inSharedTransaction(this.dataSource, work), replayed: false };
    }
    const attempt = async (manager: EntityManager): Promise<string> => {
      await this.claim(manager, request);
      const answer = await work(manager);
      await manager.update(IdempotencyRecord, idOf(request), { answer });
      return answer;
    };
    return this.once(request, () => inSharedTransaction(this.dataSource, attempt));
  }

  /** Runs `attempt`, which inserts the record, unless there is one. */
  private async once(request: IdempotentRequest, attempt: () => Promise<string>): Promise<Outcome> {
    const name = `${request.keyId}/${request.idempotencyKey}`;
    // PostgreSQL finds a repeat by the insert: a look-up before it would be a second round trip for
    // every request.
    if (!this.isPostgres || this.inProgress.has(name)) {
      const answer = await this.find(request);
      if (answer !== undefined) return { answer, replayed: true };
      if (this.inProgress.has(name)) throw inUse();
    }
    this.inProgress.add(name);
    try {
      return { answer: await attempt(), replayed: false };
    } catch (error) {
      if (!isInUse(error)) throw error;
      const answer = await this.find(request);
      if (answer !== undefined) return { answer, replayed: true };
      const expired = { ...idOf(request), createdAt: LessThanOrEqual(this.expiredMs()) };
      const { affected } = await this.dataSource.manager.delete(IdempotencyRecord, expired);
      if (!affected) throw error;
      return { answer: await attempt(), replayed: false };
    } finally {
      this.inProgress.delete(name);
    }
  }

  /** @throws {ApiError} 422 if the record is of another request */
  private async find(request: IdempotentRequest): Promise<string | undefined> {
    const { keyId, idempotencyKey } = request;
    const parameters = [keyId, idempotencyKey, this.expiredMs()];
    const [record] = await this.database.query<StoredResponse>(FIND, ...parameters);
    if (record === undefined) return undefined;
    if (record.bodyDigest !== request.bodyDigest) {
      throw errors.idempotency_key_reused('The Idempotency-Key was used for another request');
    }
    this.replays.inc();
    request.markReplayed();
    return record.answer;
  }

  /** Inserts the record before the work, so that of two requests only one runs it. */
  private async claim(manager: EntityManager, request: IdempotentRequest): Promise<void> {
    const record = { bodyDigest: request.bodyDigest, answer: '', createdAt: this.clock.now() };
    if (this.isPostgres) await manager.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await manager.insert(IdempotencyRecord, { ...idOf(request), ...record }).catch(rejectRepeat);
    if (this.isPostgres) await manager.query('SET LOCAL lock_timeout TO DEFAULT');
  }

  /** By the database's clock: the clock of one node may be ahead. */
  private deleteExpired(stop: AbortSignal): Promise<void> {
    const isExpired = `created_at <= (SELECT ${databaseNow(this.dataSource)}) - ${KEPT_MS}`;
    const records = this.dataSource.getRepository(IdempotencyRecord);
    return deleteInBatches(records, isExpired, {}, stop);
  }

  private get isPostgres(): boolean {
    return this.dataSource.options.type === 'postgres';
  }

  private expiredMs(): number {
    return this.clock.now() - KEPT_MS;
  }
}

function idOf({ keyId, idempotencyKey }: IdempotentRequest) {
  return { keyId, idempotencyKey };
}

/** @throws 409 if another request has inserted the record, or is about to */
function rejectRepeat(error: unknown): never {
  if (!isDuplicate(error) && !isHeld(error)) throw error;
  throw inUse();
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
