import { batchPerTick } from '../../time/batch-per-tick.js';
import { isOutage } from '../outage.js';
import { HeldError, type Work } from '../statement.js';
import type { PostgresTransaction } from './postgres.transaction.js';
import { drive, type Unit, UnitsFailed } from './units.js';

/** So many that none waits long for the others. */
const MAX_TOGETHER = 500;

type Transact = <Result>(
  work: (transaction: PostgresTransaction) => Promise<Result>,
) => Promise<Result>;

/**
 * Group commit: the units of work of one turn of the event loop share a transaction, and with them what
 * comes until a connection is free. It costs little more for many than for one. Only those share that
 * begin with a statement made for many: of others, one may wait for a row while it holds another.
 *
 * Where a unit fails the transaction is undone. The others are done again, together; those of which one
 * must be the culprit in halves, until it is found.
 */
export class PostgresWrites {
  private readonly turn = batchPerTick<Unit>((units) => this.conclude(units));
  private waiting: Unit[] = [];
  private isBoarding = false;

  constructor(
    private readonly transact: Transact,
    /** Told how many units were committed together. */
    private readonly onCommit: (units: number) => void,
  ) {}

  write<Result>(work: () => Work<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.turn({ work, resolve: resolve as Unit['resolve'], reject });
    });
  }

  private conclude(units: Unit[]): void {
    for (const unit of units) {
      if (mayShare(unit)) this.waiting.push(unit);
      else void this.commit([unit]);
    }
    if (this.waiting.length > 0) this.board();
  }

  /** Whoever comes before there is a connection goes along. */
  private board(): void {
    if (this.isBoarding) return;
    this.isBoarding = true;
    let units: Unit[] | undefined;
    void this.commitAll(() => (units ??= this.depart()));
  }

  private depart(): Unit[] {
    const units = this.waiting.splice(0, MAX_TOGETHER);
    this.isBoarding = false;
    if (this.waiting.length > 0) this.board();
    return units;
  }

  private commit(units: Unit[]): Promise<void> {
    return this.commitAll(() => units);
  }

  /** @param units asked for once there is a connection, or cannot be one; the same each time */
  private async commitAll(units: () => Unit[]): Promise<void> {
    try {
      const results = await this.transact((transaction) => drive(transaction, units()));
      this.onCommit(results.size);
      for (const [unit, result] of results) unit.resolve(result);
    } catch (error) {
      this.recover(units(), error);
    }
  }

  private recover(units: Unit[], error: unknown): void {
    const cause = error instanceof UnitsFailed ? error.cause : error;
    if (units.length === 1 || isOutage(error)) {
      for (const unit of units) unit.reject(cause);
      return;
    }
    const suspects = error instanceof UnitsFailed ? [...error.suspects] : units;
    const others = units.filter((unit) => !suspects.includes(unit));
    // To look for one that has to wait would be to wait each time.
    const parts = cause instanceof HeldError ? suspects.map((unit) => [unit]) : halves(suspects);
    for (const part of [others, ...parts]) if (part.length > 0) void this.commit(part);
  }
}

function mayShare({ work }: Unit): boolean {
  try {
    const step = work().next();
    return !step.done && step.value.statement.many !== undefined;
  } catch {
    return false;
  }
}

function halves<Item>(items: readonly Item[]): Item[][] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
