import { createHash } from 'node:crypto';
import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { DataSource, type EntityManager } from 'typeorm';
import type { Counter } from 'prom-client';
import { Engine } from '../database/engine.js';
import { inBatches } from '../database/in-batches.js';
import { impatiently, inSharedTransaction } from '../database/shared-transaction.js';
import {
  type Dialect,
  HeldError,
  run,
  runUnlessHeld,
  Statement,
  type Work,
} from '../database/statement.js';
import type { ApiError } from '../errors/api-error.js';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import { NEEDS_CALLER, requestOf, type UnreadBody } from '../http/request-context.js';
import { pathOf } from '../http/target.js';
import { invalidRequest } from '../input/validation.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';

const FIELD_NAME = 'idempotency-key';
const MAX_LENGTH = 255;
/** draft-ietf-httpapi-idempotency-key-header: a quoted string (RFC 8941). */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** What is documented of the field: a quoted key, or a bare one, around which blanks would be no part of it. */
const FIELD = /^(?:"(?:[ !#-\x5b\x5d-~]|\\["\\]){1,255}"|[!#-~](?:[ -~]{0,253}[!-~])?)$/;
/** Quoted, with an escape before each character. */
const MAX_FIELD_LENGTH = 2 * MAX_LENGTH + 2;

/** A request that may be sent again without being done again. */
export interface IdempotentRequest {
  keyId: string;
  idempotencyKey: string;
  /** Of the body as sent, SHA-256, base64url; known once it has been read. */
  bodyDigest(): string;
}

/** The request's idempotency, as a controller's parameter; undefined without an `Idempotency-Key`. */
export const Idempotency = createParamDecorator(
  (_data: unknown, context: ExecutionContext): IdempotentRequest | undefined =>
    requestIn(context, ''),
);

/**
 * As a guest's operation sees it. A key that was used with another operation was used with another body:
 * its answer is not that of this one.
 */
export function idempotentRequestOf(context: ExecutionContext): IdempotentRequest | undefined {
  const { method, url } = requestOf(context);
  return requestIn(context, `${method} ${pathOf(url)}\n`);
}

/**
 * The request as `IdempotencyService.transact` takes it, as a controller's parameter; undefined without an
 * `Idempotency-Key`. `@ApiIdempotent()` documents it. Where nothing but the answer matters, `@Idempotent()` does all.
 */
export const IdempotencyKey = createParamDecorator(keyOf);

function keyOf(_data: unknown, context: ExecutionContext): IdempotentRequest | undefined {
  return idempotentRequestOf(context);
}
Reflect.defineMetadata(NEEDS_CALLER, '@IdempotencyKey()', keyOf);

/** @param whatElse is asked, besides the body */
function requestIn(context: ExecutionContext, whatElse: string): IdempotentRequest | undefined {
  const request = requestOf(context);
  const idempotencyKey = idempotencyKeyOf(request.raw);
  if (idempotencyKey === undefined) return undefined;
  return {
    keyId: request.caller!.keyId,
    idempotencyKey,
    bodyDigest: () =>
      createHash('sha256')
        .update(whatElse)
        .update((request.raw as UnreadBody).bytes ?? '')
        .digest('base64url'),
  };
}

/** @throws {ApiError} 400 where the field is not one usable key */
function idempotencyKeyOf(message: UnreadBody): string | undefined {
  if (message.headers[FIELD_NAME] === undefined) return undefined;
  const [text = '', ...others] = message.headersDistinct[FIELD_NAME]!;
  const quoted = QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? text;
  if (others.length > 0 || key.length > MAX_LENGTH || !PRINTABLE.test(key)) {
    throw invalidRequest([`Idempotency-Key must be 1 to ${MAX_LENGTH} printable ASCII characters`]);
  }
  return key;
}

/** Documents what an operation with an `Idempotency-Key` takes and answers. */
export function ApiIdempotent(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'Makes it safe to repeat the request: within 24 hours a repeat with the same key and body ' +
        'gets the first answer and creates nothing. A fresh UUID will do.',
      // Without an example: the page would send that one with every animal, and so create only one.
      schema: { type: 'string', minLength: 1, maxLength: MAX_FIELD_LENGTH, pattern: FIELD.source },
    }),
    ApiErrors('idempotency_key_in_use', 'idempotency_key_reused'),
  );
}

const KEPT_MS = DAY_MS;
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

const FIND = Statement.plannedEachTime<Creation & { bodyDigest: string }>(
  'idempotency.find',
  () => `SELECT body_digest AS "bodyDigest", answer, location FROM idempotency_records
    WHERE key_id = $1 AND idempotency_key = $2 AND created_at > $3`,
  {
    columns: { key_id: 'text', idempotency_key: 'text', expired_at: 'bigint' },
    text: (given) => `SELECT body_digest AS "bodyDigest", answer, location, place
      FROM ${given} JOIN idempotency_records USING (key_id, idempotency_key)
      WHERE created_at > expired_at`,
    isNumbered: true,
  },
);
/** The row itself is the lock: whoever writes the same one waits until this unit of work has ended. */
const CLAIM = new Statement(
  'idempotency.claim',
  () => `INSERT INTO idempotency_records
      (key_id, idempotency_key, body_digest, answer, location, created_at)
    VALUES ($1, $2, $3, '', '', $4)
    ON CONFLICT (key_id, idempotency_key) DO UPDATE
      SET body_digest = excluded.body_digest, created_at = excluded.created_at
      WHERE idempotency_records.created_at <= $5
    RETURNING 1`,
  undefined,
  {
    columns: {
      key_id: 'text',
      idempotency_key: 'text',
      body_digest: 'text',
      created_at: 'bigint',
      expired_at: 'bigint',
    },
    text: (given) => `WITH given AS (SELECT * FROM ${given}),
      claimed AS (
        INSERT INTO idempotency_records
          (key_id, idempotency_key, body_digest, answer, location, created_at)
        SELECT key_id, idempotency_key, body_digest, '', '', created_at FROM given
        ON CONFLICT (key_id, idempotency_key) DO UPDATE
          SET body_digest = excluded.body_digest, created_at = excluded.created_at
          WHERE idempotency_records.created_at <= (SELECT min(expired_at) FROM given)
        RETURNING key_id, idempotency_key)
      SELECT place FROM given JOIN claimed USING (key_id, idempotency_key)`,
    isNumbered: true,
  },
);
/**
 * None is inserted: all are claimed. In this form they are found by their index for certain; an update goes through
 * the whole table where it is prepared while that is small.
 */
const remembering = (source: string): string => `INSERT INTO idempotency_records
    (key_id, idempotency_key, body_digest, answer, location, created_at)
  ${source}
  ON CONFLICT (key_id, idempotency_key) DO UPDATE
    SET answer = excluded.answer, location = excluded.location`;
const REMEMBER = new Statement(
  'idempotency.remember',
  () => remembering(`VALUES ($1, $2, '', $3, $4, 0)`),
  undefined,
  {
    columns: { key_id: 'text', idempotency_key: 'text', answer: 'text', location: 'text' },
    text: (given) =>
      remembering(`SELECT key_id, idempotency_key, '', answer, location, 0 FROM ${given}`),
    isNumbered: true,
  },
);
/**
 * By the database's clock: that of one node may be ahead. It is read in a subselect, once, so that the index on
 * `created_at` is of use.
 */
const isOver = ({ nowMs }: Dialect): string => `created_at <= (SELECT ${nowMs}) - ${KEPT_MS}`;
/** A record that somebody claims anew at this moment is not over any more. */
const PURGE = new Statement(
  'idempotency.purge',
  (dialect) => `DELETE FROM idempotency_records WHERE (key_id, idempotency_key) IN (
      SELECT key_id, idempotency_key FROM idempotency_records WHERE ${isOver(dialect)}
      ORDER BY created_at LIMIT $1 ${dialect.skipLocked('idempotency_records')})
      AND ${isOver(dialect)}
    RETURNING 1`,
);

/** Creates once, however often a request is repeated (draft-ietf-httpapi-idempotency-key-header). */
@Injectable()
export class IdempotencyService implements OnModuleInit, OnApplicationShutdown {
  /** First requests of this process that are still under way. */
  private readonly underWay = new Set<string>();
  private readonly stop = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private isPurging = false;
  private readonly replays: Counter;

  constructor(
    private readonly engine: Engine,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.replays = metrics.counter({
      name: 'idempotent_replays_total',
      help: 'Requests that were answered with what an earlier one with their Idempotency-Key created.',
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
   * Runs `work` in one durable transaction, with the record of its answer where the request has a key.
   * @throws {ApiError} 409 `idempotency_key_in_use`, 422 `idempotency_key_reused`
   */
  async create(
    request: IdempotentRequest | undefined,
    work: () => Work<Creation>,
  ): Promise<IdempotentCreation> {
    if (request === undefined) {
      return anew(await this.engine.write(work));
    }
    return this.first(request, (bodyDigest) =>
      this.engine.write(() => this.once(request, bodyDigest, work)),
    );
  }

  /**
   * Does work through TypeORM in one transaction, which whatever it does there joins, with the record of its
   * answer where the request has a key. A repeat gets that answer, and `work` is not done again.
   * @param request of `@IdempotencyKey()`
   * @param work resolves to any text that the answer can be made of again, and a path, which may be empty
   * @throws {ApiError} 409 `idempotency_key_in_use`, 422 `idempotency_key_reused`
   */
  async transact(
    request: IdempotentRequest | undefined,
    work: (manager: EntityManager) => Promise<Creation>,
  ): Promise<IdempotentCreation> {
    if (request === undefined) {
      return anew(await inSharedTransaction(this.dataSource, work));
    }
    const { keyId, idempotencyKey } = request;
    return this.first(request, (bodyDigest) =>
      inSharedTransaction(this.dataSource, async (manager) => {
        if (!(await this.claim(manager, request, bodyDigest))) return undefined;
        const creation = await work(manager);
        await manager.sql`UPDATE idempotency_records
          SET answer = ${creation.answer}, location = ${creation.location}
          WHERE key_id = ${keyId} AND idempotency_key = ${idempotencyKey}`;
        return creation;
      }),
    );
  }

  /** @param attempt undefined where there is a record of an earlier request after all */
  private async first(
    request: IdempotentRequest,
    attempt: (bodyDigest: string) => Promise<Creation | undefined>,
  ): Promise<IdempotentCreation> {
    const name = `${request.keyId}/${request.idempotencyKey}`;
    if (this.underWay.has(name)) throw inUse();
    this.underWay.add(name);
    try {
      const bodyDigest = request.bodyDigest();
      const earlier = await this.earlier(request, bodyDigest);
      if (earlier !== undefined) return earlier;
      const created = await attempt(bodyDigest);
      if (created !== undefined) return anew(created);
      // Another node was faster, and is done by now.
      const faster = await this.earlier(request, bodyDigest);
      if (faster === undefined) throw inUse();
      return faster;
    } catch (error) {
      throw error instanceof HeldError ? inUse() : error;
    } finally {
      this.underWay.delete(name);
    }
  }

  /** The answer to an earlier request with the same key. @throws {ApiError} 422 where that was another one */
  private async earlier(
    { keyId, idempotencyKey }: IdempotentRequest,
    bodyDigest: string,
  ): Promise<IdempotentCreation | undefined> {
    const first = await this.engine.first(FIND, keyId, idempotencyKey, this.expiredMs());
    if (first === undefined) return undefined;
    if (first.bodyDigest !== bodyDigest) {
      throw errors.idempotency_key_reused('The Idempotency-Key was used with another body');
    }
    this.replays.inc();
    return { answer: first.answer, location: first.location, replayed: true };
  }

  /** Undefined where there is a record of an earlier request after all. */
  private *once(
    { keyId, idempotencyKey }: IdempotentRequest,
    bodyDigest: string,
    work: () => Work<Creation>,
  ): Work<Creation | undefined> {
    const nowMs = this.clock.now();
    const claim = [keyId, idempotencyKey, bodyDigest, nowMs, this.expiredMs()];
    const [claimed] = yield* runUnlessHeld(CLAIM, ...claim);
    if (claimed === undefined) return undefined;
    const creation = yield* work();
    yield* run(REMEMBER, keyId, idempotencyKey, creation.answer, creation.location);
    return creation;
  }

  /** As `CLAIM`, within a transaction of TypeORM. */
  private claim(
    manager: EntityManager,
    { keyId, idempotencyKey }: IdempotentRequest,
    bodyDigest: string,
  ): Promise<boolean> {
    return impatiently(manager, async () => {
      const claimed = await manager.sql<unknown[]>`INSERT INTO idempotency_records
          (key_id, idempotency_key, body_digest, answer, location, created_at)
        VALUES (${keyId}, ${idempotencyKey}, ${bodyDigest}, '', '', ${this.clock.now()})
        ON CONFLICT (key_id, idempotency_key) DO UPDATE
          SET body_digest = excluded.body_digest, created_at = excluded.created_at
          WHERE idempotency_records.created_at <= ${this.expiredMs()}
        RETURNING 1`;
      return claimed.length > 0;
    });
  }

  /** Records of that time, and of any before, are as good as gone. */
  private expiredMs(): number {
    return this.clock.now() - KEPT_MS;
  }

  /** Removes the records of more than a day ago. */
  async purge(): Promise<void> {
    if (this.isPurging) return;
    this.isPurging = true;
    try {
      await inBatches(
        async (rows) => (await this.engine.write(() => run(PURGE, rows))).length,
        this.stop.signal,
      );
    } catch (err) {
      this.logger.warn({ err }, 'Old idempotency records could not be removed; tried again later');
    } finally {
      this.isPurging = false;
    }
  }
}

function inUse(): ApiError {
  return errors.idempotency_key_in_use(
    'The first request with this Idempotency-Key is still under way',
    { headers: { 'Retry-After': '1' } },
  );
}

/** Member by member: a copy with one more costs microseconds. */
function anew({ answer, location }: Creation): IdempotentCreation {
  return { answer, location, replayed: false };
}
