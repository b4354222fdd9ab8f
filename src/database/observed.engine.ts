import type { OnApplicationShutdown } from '@nestjs/common';
import type { Metrics } from '../telemetry/metrics.js';
import { Engine, type PoolState } from './engine.js';
import type { Eventual } from './eventual.js';
import type { Parameter, Statement, Work } from './statement.js';

const COMMIT = 'commit';
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** An engine whose statements are timed, by name. The time of a commit is that until it is acknowledged. */
export class ObservedEngine extends Engine implements OnApplicationShutdown {
  /** Tells of a statement, or of what TypeORM did. */
  readonly ran: (name: string, startedAtMs: number) => void;

  constructor(
    private readonly engine: Engine & OnApplicationShutdown,
    metrics: Metrics,
  ) {
    super();
    const durations = metrics.histogram({
      name: 'database_query_duration_seconds',
      help: 'Time from asking the database to its answer, by the name of the statement.',
      labelNames: ['statement'],
    });
    this.ran = (name, startedAtMs) => {
      durations.observe({ statement: name }, (performance.now() - startedAtMs) / 1000);
    };
    const sizes = metrics.histogram({
      name: 'commit_batch_size',
      help: 'Units of work that one commit made durable together.',
      buckets: BATCH_SIZES,
    });
    engine.onCommit = (units) => sizes.observe(units);
    metrics.gauge({
      name: 'database_pool',
      help: 'Connections for requests: in use, idle; and who waits for one. On SQLite, the one writer.',
      labelNames: ['state'],
      collect() {
        const { inUse, idle, waiting } = engine.pool();
        this.set({ state: 'in_use' }, inUse);
        this.set({ state: 'idle' }, idle);
        this.set({ state: 'waiting' }, waiting);
      },
    });
  }

  query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Eventual<Row[]> {
    return this.time(statement.name, () => this.engine.query(statement, ...parameters));
  }

  first<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Eventual<Row | undefined> {
    return this.time(statement.name, () => this.engine.first(statement, ...parameters));
  }

  async write<Result>(work: () => Work<Result>): Promise<Result> {
    // Only that of the last attempt counts, where there were several.
    const commit = { fromMs: 0 };
    const result = await this.engine.write(() => this.timed(work, commit));
    this.ran(COMMIT, commit.fromMs);
    return result;
  }

  observe<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    return this.timeAsync(statement.name, this.engine.observe(statement, ...parameters));
  }

  ping(): Promise<void> {
    return this.timeAsync('ping', this.engine.ping());
  }

  pool(): PoolState {
    return this.engine.pool();
  }

  onApplicationShutdown(): void {
    this.engine.onApplicationShutdown();
  }

  /** A method: V8 makes a map and a prototype of every generator function, and so would for each call. */
  private *timed<Result>(work: () => Work<Result>, commit: { fromMs: number }): Work<Result> {
    const unit = work();
    let step = unit.next();
    while (!step.done) {
      const startedAtMs = performance.now();
      let rows: unknown[];
      try {
        rows = yield step.value;
      } finally {
        this.ran(step.value.statement.name, startedAtMs);
      }
      step = unit.next(rows);
    }
    commit.fromMs = performance.now();
    return step.value;
  }

  private time<Result>(name: string, ask: () => Eventual<Result>): Eventual<Result> {
    const startedAtMs = performance.now();
    let answer: Eventual<Result> | undefined;
    try {
      answer = ask();
    } finally {
      if (!(answer instanceof Promise)) this.ran(name, startedAtMs);
    }
    return answer instanceof Promise ? this.timeAsync(name, answer, startedAtMs) : answer;
  }

  private async timeAsync<Result>(
    name: string,
    answer: Promise<Result>,
    startedAtMs = performance.now(),
  ): Promise<Result> {
    try {
      return await answer;
    } finally {
      this.ran(name, startedAtMs);
    }
  }
}
