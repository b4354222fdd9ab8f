import { isOutage, isStale } from '../outage.js';
import type { Statement, Step, Work } from '../statement.js';
import type { PostgresTransaction } from './postgres.transaction.js';

/** A unit of work, and who waits for it. */
export interface Unit {
  work: () => Work<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** Ends a transaction of several units for what is the matter with some of them. */
export class UnitsFailed extends Error {
  constructor(
    /** One of them at least is why. */
    readonly suspects: readonly Unit[],
    override readonly cause: unknown,
  ) {
    super('Some units of work of a transaction have failed');
  }
}

interface Running {
  unit: Unit;
  work: Work<unknown>;
  step: Step;
}

/**
 * Drives units side by side, a step of each at a time: equal statements of a step are one, and all
 * statements of a step leave together, before any of them is answered.
 * @returns their results
 * @throws {UnitsFailed}
 * @throws what the driver throws, where that is not about the units
 */
export async function drive(
  transaction: PostgresTransaction,
  units: readonly Unit[],
): Promise<Map<Unit, unknown>> {
  const results = new Map<Unit, unknown>();
  let running = advance(
    units.map((unit) => ({ unit, work: unit.work(), rows: undefined })),
    results,
  );
  while (running.length > 0) {
    const groups = [...byStatement(running).values()];
    const answers = await Promise.allSettled(
      groups.map((group) => transaction.run(group.map(({ step }) => step))),
    );
    const next: Advancing[] = [];
    answers.forEach((answer, index) => {
      const group = groups[index]!;
      // The first failure is the cause of all that come after it.
      if (answer.status === 'rejected') throw failureOf(group, answer.reason);
      group.forEach(({ unit, work }, place) =>
        next.push({ unit, work, rows: answer.value[place] }),
      );
    });
    running = advance(next, results);
  }
  return results;
}

interface Advancing extends Omit<Running, 'step'> {
  /** Of its last step; undefined before the first. */
  rows: unknown[] | undefined;
}

/** Gives each its rows, up to its next step or to its result. */
function advance(units: readonly Advancing[], results: Map<Unit, unknown>): Running[] {
  const running: Running[] = [];
  const failed: Unit[] = [];
  let cause: unknown;
  for (const { unit, work, rows } of units) {
    try {
      const step = rows === undefined ? work.next() : work.next(rows);
      if (step.done) results.set(unit, step.value);
      else running.push({ unit, work, step: step.value });
    } catch (error) {
      failed.push(unit);
      cause = error;
    }
  }
  if (failed.length > 0) throw new UnitsFailed(failed, cause);
  return running;
}

function byStatement(running: readonly Running[]): Map<Statement, Running[]> {
  const groups = new Map<Statement, Running[]>();
  for (const each of running) {
    const group = groups.get(each.step.statement);
    if (group === undefined) groups.set(each.step.statement, [each]);
    else group.push(each);
  }
  return groups;
}

function failureOf(group: readonly Running[], error: unknown): unknown {
  if (isOutage(error) || isStale(error)) return error;
  return new UnitsFailed(
    group.map(({ unit }) => unit),
    error,
  );
}
