import type { Config } from '../../src/config/config.js';
import { Random } from '../../test/support/random.js';
import { Auditor } from './auditor.js';
import { Link } from './network.js';
import { type Outcome, SimulatedNode } from './node.js';
import { Scheduler, SimulatedClock } from './scheduler.js';
import { type KeyRow, SimulatedDatabase, SimulatedRedis } from './servers.js';

const NODES = 4;
const LENGTH_MS = 30_000;
const LIMITS = { perMinute: 12, perDay: 40 };
const MIDNIGHT = Date.UTC(2026, 5, 16);
const CONFIG = { banAfterRejections: 25, banSeconds: 4 } as Config;
/** Corrections of a clock: a leap second, a drift, the wrong hour. */
const STEPS_MS = [-3_600_000, -90_000, -1_000, 1_000, 90_000];
/** Redis may pause for so long without an outage. */
const SHORT_PAUSE_MS = 300;

/** The simulated world of one seed. */
export class Simulation {
  readonly events: string[] = [];
  /** How often each status was the response. */
  readonly statuses: Record<number, number> = {};
  private readonly random: Random;
  private readonly scheduler: Scheduler;
  private readonly nodes: SimulatedNode[];
  private readonly redis: SimulatedRedis;
  private readonly database: SimulatedDatabase;
  private readonly auditors = new Map<string, Auditor>();
  private readonly startMs: number;
  private readonly onlyPauses: boolean;
  private revokedMs = Infinity;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    // A minute ends during the simulation, on some seeds a day.
    const days = this.random.chance(0.2) ? 0 : 720 * 60_000;
    this.startMs = MIDNIGHT + days - this.random.below(LENGTH_MS);
    this.onlyPauses = this.random.chance(0.2);
    this.redis = new SimulatedRedis(this.newClock(), CONFIG);
    this.database = new SimulatedDatabase(this.newClock());
    const newLink = () => new Link(this.scheduler, this.random);
    this.nodes = Array.from({ length: NODES }, (_, index) => {
      const links = [newLink(), newLink()] as const;
      const servers = [this.redis, this.database, CONFIG] as const;
      return new SimulatedNode(`node ${index}`, this.newClock(), ...links, ...servers);
    });
  }

  /** @returns what contradicts a promise */
  async run(): Promise<string[]> {
    for (const name of ['greedy', 'obedient', 'revoked']) this.issue(name);
    this.scheduler.after(0, () => {
      for (const node of this.nodes) void node.start();
    });
    this.scheduler.after(500, () => this.begin());
    await this.scheduler.run(LENGTH_MS);
    return [...this.auditors].flatMap(([name, { faults }]) =>
      faults.map((fault) => `caller ${name}: ${fault}`),
    );
  }

  private begin(): void {
    void this.greedyCaller();
    void this.obedientCaller();
    void this.revokedCaller();
    void this.disturb();
    this.scheduler.after(this.random.below(LENGTH_MS / 2), () => this.revoke());
  }

  private newClock(): SimulatedClock {
    return new SimulatedClock(this.scheduler, this.startMs);
  }

  private issue(name: string): void {
    const row: KeyRow = {
      ...{ id: name, clientId: name, digest: name, plan: 'enterprise', scopes: 'pets:read' },
      ...LIMITS,
      ...{ expiresAt: null, endedAt: null, isUnused: false, changedAt: 1 },
    };
    this.database.keys.set(name, row);
    this.auditors.set(name, new Auditor(LIMITS));
  }

  /** Sends bursts to all nodes, whatever the responses are. */
  private async greedyCaller(): Promise<void> {
    for (;;) {
      const burst = this.random.chance(0.1) ? 20 : 1;
      for (let count = 0; count < burst; count++) {
        void this.request('greedy', this.random.pick(this.nodes));
      }
      await this.scheduler.delay(this.random.below(250));
    }
  }

  /** Sends one request at a time, and waits for `Retry-After`. */
  private async obedientCaller(): Promise<void> {
    for (;;) {
      const node = this.random.pick(this.nodes);
      const outcome = await this.request('obedient', node);
      if (outcome.retryAfterSeconds === undefined) {
        await this.scheduler.delay(this.random.below(200));
        continue;
      }
      if (outcome.epoch === undefined && this.random.chance(0.5)) {
        this.breakLink(node, 'toRedis', outcome.retryAfterSeconds * 1_000 + 500);
        this.setClock(node);
      }
      await this.scheduler.delay(outcome.retryAfterSeconds * 1_000);
      const isShared = outcome.epoch !== undefined;
      const again = await this.request('obedient', isShared ? this.random.pick(this.nodes) : node);
      this.auditors.get('obedient')!.retryAfter(outcome, again);
    }
  }

  private async revokedCaller(): Promise<void> {
    for (;;) {
      const node = this.random.pick(this.nodes);
      const startedMs = this.scheduler.elapsedMs;
      const reachedMs = node.toDatabase.upSinceMs ?? Infinity;
      const outcome = await this.request('revoked', node);
      const wasInReach = node.toDatabase.upSinceMs === reachedMs;
      const knownMs = wasInReach ? Math.max(this.revokedMs, reachedMs) : Infinity;
      this.auditors.get('revoked')!.revocation(node, outcome, startedMs - knownMs);
      await this.scheduler.delay(this.random.below(250));
    }
  }

  private async request(subject: string, node: SimulatedNode): Promise<Outcome> {
    const auditor = this.auditors.get(subject)!;
    const knownBan = auditor.knownBan(node);
    const outcome = await node.request(subject);
    this.statuses[outcome.status] = (this.statuses[outcome.status] ?? 0) + 1;
    auditor.limit(node, outcome);
    if (node.clock.offsetMs === 0) auditor.ban(node, outcome, knownBan);
    return outcome;
  }

  private revoke(): void {
    const row = this.database.keys.get('revoked')!;
    if (row.endedAt !== null) return;
    const changedAt = this.database.clock.now();
    // The transaction commits some time after it has written the row.
    const commitMs = this.random.pick([0, 5, 2_000]);
    this.scheduler.after(commitMs, () => {
      Object.assign(row, { endedAt: changedAt, changedAt });
      this.revokedMs = this.scheduler.elapsedMs;
      this.log('the key is revoked');
    });
  }

  private async disturb(): Promise<void> {
    for (;;) {
      await this.scheduler.delay(this.random.below(4_000));
      if (this.onlyPauses) this.pauseRedis(this.random.below(SHORT_PAUSE_MS));
      else this.fault();
    }
  }

  private fault(): void {
    const node = this.random.pick(this.nodes);
    const lengthMs = this.random.below(6_000);
    const steps: (() => void)[] = [
      () => this.breakLink(node, 'toRedis', lengthMs),
      () => this.breakLink(node, 'toDatabase', lengthMs),
      () => this.pauseRedis(this.random.below(1_500)),
      () => this.flush(),
      () => this.setClock(node),
      () => this.slowDown(node, lengthMs),
    ];
    this.random.pick(steps)();
  }

  private breakLink(node: SimulatedNode, to: 'toRedis' | 'toDatabase', lengthMs: number): void {
    const state = this.random.pick(['refused', 'silent'] as const);
    this.log(`${node.name}: the connection ${to} is ${state} for ${lengthMs} ms`);
    node[to].breakFor(lengthMs, state);
    const isRevoked = to === 'toDatabase' && this.random.chance(0.5);
    if (isRevoked) this.scheduler.after(this.random.below(lengthMs), () => this.revoke());
  }

  /** Pauses do not overlap, so that none is longer than it says. */
  private pauseRedis(lengthMs: number): void {
    const [{ toRedis: first }] = this.nodes as [SimulatedNode];
    if (first.pausedUntilMs > this.scheduler.elapsedMs) return;
    this.log(`Redis pauses for ${lengthMs} ms`);
    for (const { toRedis } of this.nodes) {
      toRedis.pausedUntilMs = this.scheduler.elapsedMs + lengthMs;
    }
    const check = (): void =>
      this.nodes.forEach((node) => this.auditors.get('greedy')!.pause(node));
    if (this.onlyPauses) this.scheduler.after(lengthMs, check);
  }

  private flush(): void {
    this.log('Redis loses its data');
    this.redis.flush();
  }

  private setClock(node: SimulatedNode): void {
    const stepMs = this.random.pick(STEPS_MS);
    this.log(`the clock of ${node.name} is set by ${stepMs} ms`);
    node.clock.offsetMs += stepMs;
  }

  private slowDown(node: SimulatedNode, lengthMs: number): void {
    const mostMs = 5 + this.random.below(45);
    this.log(`${node.name}: replies take up to ${mostMs} ms each way for ${lengthMs} ms`);
    for (const link of [node.toRedis, node.toDatabase]) {
      link.mostDelayMs = mostMs;
      this.scheduler.after(lengthMs, () => (link.mostDelayMs = 3));
    }
  }

  private log(event: string): void {
    this.events.push(`${String(this.scheduler.elapsedMs).padStart(9)} ms  ${event}`);
  }
}
