import type { Pool, PoolClient, QueryResult } from 'pg';
import { isHeld, isOutage, isStale, noteOfOurs } from '../outage.js';
import { HeldError, type Step } from '../statement.js';
import { TransactionAbortedError } from '../transactions.js';
import {
  asked,
  byColumn,
  bySet,
  type PostgresStatements,
  type Query,
} from './postgres.statements.js';

/** For whoever does not wait: longer than others need to commit, where all is well. */
const IMPATIENT = `SET LOCAL lock_timeout = '50ms'`;
const PATIENT = 'SET LOCAL lock_timeout TO DEFAULT';

/** A transaction that is open, on a connection of its own. */
export class PostgresTransaction {
  constructor(
    private readonly client: PoolClient,
    private readonly begun: Promise<unknown>,
    private readonly statements: PostgresStatements,
    private readonly mayUsePrepared: boolean,
  ) {}

  /**
   * Runs steps that have their statement in common, as one where it can do that for many.
   * @returns the rows of each
   */
  async run(steps: readonly Step[]): Promise<unknown[][]> {
    const { statement } = steps[0]!;
    const prepared = this.statements.of(statement);
    const { one, many, toValue, isNumbered } = prepared;
    if (steps.length === 1 || many === undefined) {
      return Promise.all(
        steps.map(async ({ parameters, isImpatient }) => {
          const rows = await this.query(asked(one, [...parameters]), isImpatient);
          return toValue === undefined ? rows : rows.map(toValue);
        }),
      );
    }
    const sets = steps.map(({ parameters }) => parameters);
    const isImpatient = steps.some((step) => step.isImpatient);
    const rows = await this.query(asked(many, byColumn(sets)), isImpatient);
    if (isNumbered) return bySet(prepared, rows, steps.length);
    if (rows.length !== steps.length) throw new Error(`${statement.name}: a row is missing`);
    return rows.map((row) => [toValue === undefined ? row : toValue(row)]);
  }

  private async query(query: Query, isImpatient = false): Promise<unknown[]> {
    if (!this.mayUsePrepared) query.name = undefined;
    const answer = isImpatient ? this.queryImpatiently(query) : this.client.query(query);
    try {
      const [{ rows }] = await Promise.all([answer, this.begun]);
      return rows as unknown[];
    } catch (error) {
      noteOfOurs(error);
      throw error;
    }
  }

  /** All three leave together: nobody waits for a further answer. */
  private async queryImpatiently(query: Query): Promise<QueryResult> {
    const [, result] = await Promise.all([
      this.client.query(IMPATIENT),
      this.client.query(query).catch((error: unknown) => {
        throw isHeld(error) ? new HeldError(error) : error;
      }),
      // In a transaction that has failed, this one fails as well.
      this.client.query(PATIENT).catch(() => undefined),
    ]);
    return result;
  }
}

/** Does work in a transaction. It may be done twice, with nothing left of the first time. */
export async function transact<Result>(
  pool: Pool,
  statements: PostgresStatements,
  work: (transaction: PostgresTransaction) => Promise<Result>,
): Promise<Result> {
  try {
    return await transactOnce(pool, statements, work, true);
  } catch (error) {
    if (!isStale(error)) throw error;
    // Nothing of it is left: once more, with nothing that was prepared before.
    return transactOnce(pool, statements, work, false);
  }
}

async function transactOnce<Result>(
  pool: Pool,
  statements: PostgresStatements,
  work: (transaction: PostgresTransaction) => Promise<Result>,
  mayUsePrepared: boolean,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // It leaves together with the first statement: nobody has to wait for this answer by itself.
    const begun = client.query('BEGIN');
    // Whoever runs a statement waits for it, unless the work ends before its first.
    begun.catch(() => undefined);
    const result = await work(new PostgresTransaction(client, begun, statements, mayUsePrepared));
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new TransactionAbortedError();
    return result;
  } catch (error) {
    // To roll back on a connection that does not answer would be to wait for it once more; one whose
    // statements are stale has no further use.
    if (isOutage(error) || isStale(error)) broken = error as Error;
    else await client.query('ROLLBACK').catch((cause: Error) => (broken = cause));
    throw error;
  } finally {
    // Closing a broken connection ends its transaction, and keeps the next one from it.
    client.release(broken);
  }
}
