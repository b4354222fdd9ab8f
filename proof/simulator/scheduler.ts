import { Clock } from '../../src/time/clock.js';
import type { Random } from '../../test/support/random.js';

interface Task {
  dueMs: number;
  /** Decides between tasks that are due at the same time. */
  order: number;
  run: () => void;
  repeatMs?: number;
  isCancelled?: boolean;
  unref: () => Task;
}

const realImmediate = setImmediate;

/**
 * Simulated time. While it runs, the timers of the process are its own: tasks run one at a time, in
 * the order of their times; the seed decides between tasks of the same time. So one seed is one
 * order of events, and no time passes between them.
 */
export class Scheduler {
  elapsedMs = 0;
  private readonly tasks: Task[] = [];

  constructor(private readonly random: Random) {}

  after(ms: number, run: () => void, repeatMs?: number): Task {
    const task: Task = {
      dueMs: this.elapsedMs + Math.max(0, ms),
      order: this.random.below(1_000_000),
      run,
      ...(repeatMs !== undefined && { repeatMs: Math.max(1, repeatMs) }),
      unref: () => task,
    };
    this.insert(task);
    return task;
  }

  delay(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  async run(untilMs: number): Promise<void> {
    const restore = this.install();
    try {
      for (let task = this.tasks.pop(); task !== undefined; task = this.tasks.pop()) {
        if (task.dueMs > untilMs) return;
        if (task.isCancelled) continue;
        this.elapsedMs = task.dueMs;
        task.run();
        await new Promise((resume) => realImmediate(resume));
        if (task.repeatMs === undefined || task.isCancelled) continue;
        task.dueMs += task.repeatMs;
        this.insert(task);
      }
    } finally {
      restore();
    }
  }

  /** Sorted by descending time, so that the next task is the last one. */
  private insert(task: Task): void {
    let [low, high] = [0, this.tasks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { dueMs, order } = this.tasks[middle]!;
      const isLater = dueMs > task.dueMs || (dueMs === task.dueMs && order > task.order);
      if (isLater) low = middle + 1;
      else high = middle;
    }
    this.tasks.splice(low, 0, task);
  }

  /** @returns a function that puts the real timers back */
  private install(): () => void {
    type Callback = () => void;
    const cancel = (task?: Task): void => {
      if (task !== undefined) task.isCancelled = true;
    };
    const replaced = {
      setTimeout: (run: Callback, ms = 0) => this.after(ms, run),
      setInterval: (run: Callback, ms = 0) => this.after(ms, run, ms),
      setImmediate: (run: Callback) => this.after(0, run),
      clearTimeout: cancel,
      clearInterval: cancel,
      performance: { now: () => this.elapsedMs },
    };
    const names = Object.keys(replaced) as (keyof typeof replaced)[];
    const original = names.map((name) => [name, globalThis[name]] as const);
    Object.assign(globalThis, replaced);
    return () => void Object.assign(globalThis, Object.fromEntries(original));
  }
}

/** The clock of one machine, which can be set. */
export class SimulatedClock extends Clock {
  offsetMs = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly startMs: number,
  ) {
    super();
  }

  override now(): number {
    return this.startMs + this.scheduler.elapsedMs + this.offsetMs;
  }

  override elapsed(): number {
    return this.scheduler.elapsedMs;
  }
}
