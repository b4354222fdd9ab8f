import type { Eventual } from './eventual.js';
import type { Parameter, Statement, Work } from './statement.js';

/**
 * The database as the hot paths use it: prepared statements and durable units of work. Everything else
 * goes through TypeORM, on the same connections.
 */
export abstract class Engine {
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
   */
  abstract write<Result>(work: () => Work<Result>): Promise<Result>;

  /**
   * Within a unit of work: whether no other unit, on any node, holds the lock `name`; it is then held
   * until the end of this unit.
   */
  abstract tryLock(name: string): Work<boolean>;

  /** @throws what the engine throws where it cannot be reached */
  abstract ping(): Promise<void>;
}
