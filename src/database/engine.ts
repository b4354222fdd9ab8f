import type { Eventual } from './eventual.js';
import type { Parameter, Statement, Work } from './statement.js';

/**
 * The database as the hot paths use it: prepared statements and durable units of work. Everything else
 * goes through TypeORM.
 */
export abstract class Engine {
  /** Told, after each commit, how many units of work it was of. */
  onCommit: ((units: number) => void) | undefined;

  /** Rows as they are committed. Synchronous where the engine is. */
  abstract query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Eventual<Row[]>;

  /** The only row, where there is one. */
  abstract first<Row>(
    statement: Statement<Row>,
    ...parameters: Parameter[]
  ): Eventual<Row | undefined>;

  /**
   * Runs a unit of work. Once the promise is fulfilled, neither the end of this process nor a power cut
   * of the database's machine loses it.
   * @throws {NestedTransactionError} within a transaction of TypeORM
   */
  abstract write<Result>(work: () => Work<Result>): Promise<Result>;

  /**
   * Rows as they are committed, for who looks at the database of its own accord: however many requests
   * wait, and whatever table they wait for, this does not wait behind them, and soon gives up.
   */
  abstract observe<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]>;

  /**
   * Like `observe`, it waits behind nobody.
   * @throws what the engine throws where it cannot be reached
   */
  abstract ping(): Promise<void>;

  /** What requests use of the database at this moment. */
  abstract pool(): PoolState;
}

/** Connections; and who waits for one. */
export interface PoolState {
  inUse: number;
  idle: number;
  waiting: number;
}
