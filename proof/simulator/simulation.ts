import { install } from '@sinonjs/fake-timers';
import { Random } from '../../test/support/random.js';
import { Auditor } from './auditor.js';
import { delay, Link } from './network.js';
import { type Outcome, SimulatedNode } from './node.js';
import { SimulatedDatabase, SimulatedRedis } from './servers.js';

const NODES = ['node 0', 'node 1', 'node 2', 'node 3'];
const LENGTH_MS = 30_000;
/** Corrections of a clock: a leap second, a drift, the wrong hour. */
const STEPS_MS = [-3_600_000, -90_000, -1_000, 1_000, 90_000];
const SHORT_PAUSE_MS = 300;
const REVOKED_WITHIN_MS = 1_000;

/**
 * Simulates one seed, with the clocks and timers of this process: timers run one at a time, in the
 * order of time and then of age. So one seed is one order of events, and no time passes between.
 * @param statuses counts the responses
 */
export async function simulate(seed: number, statuses: Record<number, number>) {
  const random = new Random(seed);
  // A minute ends during the simulation, on some seeds a day.
  const hour = random.chance(0.2) ? 0 : 12;
  const startMs = Date.UTC(2026, 5, 16, hour) - random.below(LENGTH_MS);
  const time = install({ now: startMs, toNotFake: ['nextTick', 'queueMicrotask'] });
  try {
    const simulation = new Simulation(random, statuses);
    setTimeout(() => void simulation.begin());
    while (time.now < startMs + LENGTH_MS) {
      time.next();
      // Whatever has waited for a timer continues before the next timer.
      await new Promise((resolve) => process.nextTick(resolve));
    }
    return simulation;
  } finally {
    time.uninstall();
  }
}

/** The simulated world of one seed. */
class Simulation {
  readonly events: string[] = [];
  readonly auditor = new Auditor();
  private readonly redis = new SimulatedRedis();
  private readonly database = new SimulatedDatabase();
  private readonly nodes: SimulatedNode[];
  private readonly onlyPauses: boolean;
  private revokedMs = Infinity;

  constructor(
    private readonly random: Random,
    private readonly statuses: Record<number, number>,
  ) {
    this.onlyPauses = random.chance(0.2);
    this.nodes = NODES.map((name) => {
      const toRedis = new Link(this.redis, random);
      return new SimulatedNode(name, toRedis, new Link(this.database, random));
    });
  }

  async begin(): Promise<void> {
    for (const key of ['greedy', 'obedient', 'revoked']) this.database.saveKey(key, 1, null);
    for (const node of this.nodes) void node.start();
    await delay(500);
    void this.repeat(500, () => this.sendBurst());
    void this.repeat(200, () => this.waitAsTold());
    void this.repeat(400, () => this.useRevokedKey());
    void this.repeat(4_000, () => this.disturb());
    void this.revokeAfter(this.random.below(LENGTH_MS / 2));
  }

  private async repeat(mostPauseMs: number, step: () => unknown): Promise<void> {
    for (;;) {
      await delay(this.random.below(mostPauseMs));
      await step();
    }
  }

  private async request(key: string, node = this.random.pick(this.nodes)): Promise<Outcome> {
    const outcome = await node.request(key);
    this.statuses[outcome.status]!++;
    this.auditor.check(outcome);
    if (this.onlyPauses && outcome.decision !== undefined && outcome.epoch === undefined) {
      this.auditor.faults.push(`pause: ${node.name} counts alone`);
    }
    return outcome;
  }

  private sendBurst(): void {
    const requests = this.random.chance(0.1) ? 20 : 1;
    this.random.times(requests, () => void this.request('greedy'));
  }

  /**
   * A caller that waited for `Retry-After` is admitted, if the same counter decides again. If that
   * is a node whose clock was set back, the caller also waits for the step.
   */
  private async waitAsTold(): Promise<void> {
    const { node, status, epoch, retryAfterSeconds = 0 } = await this.request('obedient');
    if (status !== 429) return;
    const isAlone = epoch === undefined;
    const toldMs = node.clock.now();
    if (isAlone && this.random.chance(0.5)) {
      this.breakLink(node, 'toRedis', retryAfterSeconds * 1_000 + 500);
      this.setClock(node);
    }
    const dueMs = toldMs + retryAfterSeconds * 1_000;
    await delay(retryAfterSeconds * 1_000);
    while (isAlone && node.clock.now() < dueMs) await delay(dueMs - node.clock.now());
    const again = await this.request('obedient', isAlone ? node : undefined);
    if (again.status !== 429 || again.epoch !== epoch) return;
    this.auditor.faults.push(`Retry-After: ${again.retryAfterSeconds} s more (${again.node.name})`);
  }

  /** A revocation takes effect within a second in which the node reaches the database. */
  private async useRevokedKey(): Promise<void> {
    const node = this.random.pick(this.nodes);
    const { period } = node.toDatabase;
    const knownForMs = Date.now() - Math.max(this.revokedMs, period.sinceMs);
    const { status } = await this.request('revoked', node);
    const isReached = period.state === 'up' && period === node.toDatabase.period;
    if (status === 401 || status === 503 || !isReached || knownForMs <= REVOKED_WITHIN_MS) return;
    this.auditor.faults.push(`revocation: ${status} after ${knownForMs} ms (${node.name})`);
  }

  private async revokeAfter(ms: number): Promise<void> {
    await delay(ms);
    if (this.revokedMs < Infinity) return;
    const changedAt = Date.now();
    // The transaction commits some time after it has written the row.
    await delay(this.random.pick([0, 5, 2_000]));
    this.database.saveKey('revoked', changedAt, changedAt);
    this.revokedMs = Date.now();
    this.log('the key is revoked');
  }

  private disturb(): void {
    if (this.onlyPauses) return this.pauseRedis(this.random.below(SHORT_PAUSE_MS));
    const node = this.random.pick(this.nodes);
    const to = this.random.pick(['toRedis', 'toDatabase'] as const);
    const lengthMs = this.random.below(6_000);
    const faults = [
      () => this.breakLink(node, to, lengthMs),
      () => this.slowDown(node, to, lengthMs),
      () => this.setClock(node),
      () => this.pauseRedis(this.random.below(1_500)),
      () => {
        this.log('Redis loses its data');
        this.redis.flush();
      },
    ];
    this.random.pick(faults)();
  }

  private breakLink(node: SimulatedNode, to: 'toRedis' | 'toDatabase', ms: number): void {
    const state = this.random.pick(['refused', 'silent'] as const);
    this.log(`${node.name}: the connection ${to} is ${state} for ${ms} ms`);
    node[to].breakFor(ms, state);
    const isRevoked = to === 'toDatabase' && this.random.chance(0.5);
    if (isRevoked) void this.revokeAfter(this.random.below(ms));
  }

  private slowDown(node: SimulatedNode, to: 'toRedis' | 'toDatabase', ms: number): void {
    const link = node[to];
    link.mostDelayMs = 5 + this.random.below(45);
    this.log(`${node.name}: ${to} takes up to ${link.mostDelayMs} ms each way for ${ms} ms`);
    setTimeout(() => (link.mostDelayMs = 3), ms);
  }

  private setClock(node: SimulatedNode): void {
    const stepMs = this.random.pick(STEPS_MS);
    this.log(`the clock of ${node.name} is set by ${stepMs} ms`);
    node.clock.offsetMs += stepMs;
  }

  /** Pauses do not overlap, so that none is longer than it says. */
  private pauseRedis(ms: number): void {
    if (this.redis.pausedUntilMs > Date.now()) return;
    this.log(`Redis pauses for ${ms} ms`);
    this.redis.pausedUntilMs = Date.now() + ms;
  }

  private log(event: string): void {
    this.events.push(`${String(performance.now()).padStart(6)} ms  ${event}`);
  }
}
