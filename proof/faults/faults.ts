import { type Answer, Client } from '../../test/support/client.js';
import { eventually } from '../../test/support/eventually.js';
import { Random } from '../../test/support/random.js';
import { listAll } from '../crash/list-all.js';
import type { Part, Result, Run } from '../part.js';
import { Cluster, type ClusterNode } from './cluster.js';
import { planFaults, type PlannedFault } from './fault-plan.js';
import { AUDITORS, type Event, type Facts } from './history.js';

const ROUNDS = { full: 50, short: 2 };
const NODES = 3;
const REQUESTS = 200;
const AT_ONCE = 16;
const LIMIT = 40;
/** More than nodes that count alone admit in a round. */
const MOST_ADMITTED = 20 * LIMIT;
const CREATES = 30;
/** A request without a response for this time counts as lost. */
const PATIENCE_MS = 2_000;
const TICK_MS = 20;
const AMPLE = ['--per-minute', '1000000', '--per-day', '1000000000'];

interface IssuedKey {
  id: string;
  key: string;
}

/** One round: requests in an order that the seed decides, with faults between them. */
class Round {
  readonly faults: readonly PlannedFault[];
  private readonly random: Random;
  private readonly events: Event[] = [];
  private readonly clients = new Map<string, Client>();
  private readonly names = new Map<string, string>();
  private readonly revokeAfter: number;
  private revokedMs = Infinity;
  private busyMs = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly seed: number,
    private readonly keys: Record<Event['kind'], IssuedKey>,
  ) {
    this.random = new Random(seed);
    this.faults = planFaults(cluster, this.random, REQUESTS);
    this.revokeAfter = 1 + this.random.below(REQUESTS / 2);
    for (let index = 0; index < CREATES; index++) {
      this.names.set(`${seed}-${index}`, `Rex ${seed}/${index}`);
    }
  }

  /** @returns what the auditors found */
  async run(): Promise<string[]> {
    const watch = this.watchMachine();
    const before = this.cluster.nodes.map(({ restarts }) => restarts);
    await this.sendWithFaults();
    await this.cluster.heal();
    await this.settle();
    clearInterval(watch);
    const restarts = this.cluster.nodes.map((node, index) => node.restarts - before[index]!);
    const facts = await this.facts(restarts.reduce((sum, count) => sum + count, 0));
    for (const client of this.clients.values()) client.close();
    return Object.entries(AUDITORS).flatMap(([promise, audit]) =>
      audit(this.events, facts).map((found) => `${promise}: ${found}`),
    );
  }

  describe(): string {
    return this.faults
      .map(
        ({ name, beginsAfter, endsAfter }) => `${name} (requests ${beginsAfter} to ${endsAfter})`,
      )
      .join('; ');
  }

  /** Faults begin and end when so many requests have ended; no clock decides. */
  private async sendWithFaults(): Promise<void> {
    const requests = this.random.times(REQUESTS, () => this.drawRequest());
    const pending: Promise<unknown>[] = [];
    const begun = new Map<PlannedFault, Promise<unknown>>();
    const start = (action: () => unknown): Promise<unknown> => {
      const running = Promise.resolve().then(action);
      // It is awaited at the end, where a failure ends the round.
      running.catch(() => undefined);
      pending.push(running);
      return running;
    };
    let [next, ended] = [0, 0];
    const worker = async (): Promise<void> => {
      while (next < REQUESTS) {
        await requests[next++]!();
        ended++;
        if (ended === this.revokeAfter) void start(() => this.revoke());
        for (const fault of this.faults) {
          if (ended === fault.beginsAfter) {
            const running = start(() => fault.begin());
            begun.set(fault, running);
          }
          if (ended === fault.endsAfter) {
            void start(() => begun.get(fault)!.then(() => fault.end()));
          }
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await Promise.all(pending);
  }

  private drawRequest(): () => Promise<unknown> {
    const node = this.random.pick(this.cluster.nodes);
    const kind = this.random.pick(['limited', 'limited', 'create', 'create', 'revocable'] as const);
    const [idempotencyKey] = this.random.pick([...this.names]);
    return () => this.send(node, kind, kind === 'create' ? idempotencyKey : undefined);
  }

  /** Uses up the limit, and repeats every create until it is acknowledged. */
  private async settle(): Promise<void> {
    const isUsedUp = async (node: ClusterNode): Promise<boolean> =>
      (await this.send(node, 'limited'))?.status === 429;
    for (const node of this.cluster.nodes) {
      // The auditor reports a limit that is never used up.
      let left = MOST_ADMITTED;
      while (left-- > 0 && !(await isUsedUp(node)));
    }
    for (const idempotencyKey of this.names.keys()) {
      const node = this.random.pick(this.cluster.nodes);
      await this.sendUntil(201, node, 'create', idempotencyKey);
    }
    for (const node of this.cluster.nodes) await this.sendUntil(401, node, 'revocable');
  }

  private async sendUntil(status: number, ...request: Parameters<Round['send']>): Promise<void> {
    let answer: Answer | undefined;
    const isReached = async (): Promise<boolean> => {
      answer = await this.send(...request);
      return answer?.status === status;
    };
    await eventually(isReached).catch(() => {
      const [{ name }, kind] = request;
      const found = `${answer?.status ?? 'nothing'} ${answer?.text ?? ''}`;
      throw new Error(`${name} responds to ${kind} with ${found}, not ${status}`);
    });
  }

  private async revoke(): Promise<void> {
    const { id } = this.keys.revocable;
    // PostgreSQL may be stopped.
    const revoked = async (): Promise<boolean> =>
      this.cluster.run('keys', 'revoke', id, '--yes').then(
        () => true,
        () => false,
      );
    await eventually(revoked, 120_000);
    this.revokedMs = performance.now();
  }

  private async send(
    node: ClusterNode,
    kind: Event['kind'],
    idempotencyKey?: string,
  ): Promise<Answer | undefined> {
    const [startedMs, { reachesDatabaseSince }] = [performance.now(), node];
    const client = this.clientOf(node, kind);
    const call =
      idempotencyKey === undefined
        ? client.get('/v1/pets?limit=1')
        : client.post(
            '/v1/pets',
            { name: this.names.get(idempotencyKey), categoryId: 7 },
            { 'idempotency-key': idempotencyKey },
          );
    const answer = await atMost(PATIENCE_MS, call);
    const wasInterrupted = node.reachesDatabaseSince !== reachesDatabaseSince;
    this.events.push({
      ...{ node: node.name, kind, startedMs, endedMs: performance.now() },
      status: answer?.status,
      text: answer?.text ?? '',
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      reachesDatabaseSince: wasInterrupted ? undefined : reachesDatabaseSince,
    });
    return answer;
  }

  private clientOf({ origin }: ClusterNode, kind: Event['kind']): Client {
    const id = origin + kind;
    const client = this.clients.get(id) ?? new Client(origin, this.keys[kind].key);
    this.clients.set(id, client);
    return client;
  }

  /** Measures how late timers are: other processes may have the processor. */
  private watchMachine(): NodeJS.Timeout {
    let expected = performance.now() + TICK_MS;
    return setInterval(() => {
      this.busyMs = Math.max(this.busyMs, performance.now() - expected);
      expected = performance.now() + TICK_MS;
    }, TICK_MS);
  }

  private async facts(restarts: number): Promise<Facts> {
    const fallbacks = this.cluster.nodes.map((node) => node.newFallbacks());
    const disturbed = new Set(this.faults.map(({ disturbs }) => disturbs));
    const isShared = !disturbed.has('redis') && fallbacks.every((count) => count === 0);
    const flushes = this.faults.filter(({ isFlush }) => isFlush).length;
    const client = this.clientOf(this.cluster.nodes[0]!, 'create');
    const suffix = `Rex ${this.seed}/`;
    const pets = (await listAll(client)).filter((text) => text.includes(suffix));
    return {
      limit: LIMIT,
      timesLimit: isShared ? 1 : 1 + NODES + restarts + flushes,
      isSharedThroughout: isShared,
      isDatabaseDisturbed: disturbed.has('database') || disturbed.has('node'),
      revokedMs: this.revokedMs,
      busyMs: this.busyMs,
      names: this.names,
      pets,
    };
  }
}

async function atMost(ms: number, call: Promise<Answer>): Promise<Answer | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const answer = await Promise.race([call.catch(() => undefined), timeout]);
  clearTimeout(timer);
  return answer;
}

async function issueKeys(cluster: Cluster): Promise<Record<Event['kind'], IssuedKey>> {
  const issue = (...limits: string[]): Promise<IssuedKey> =>
    cluster.run('keys', 'issue', '--name', 'faults', '--plan', 'enterprise', ...limits);
  const limited = ['--per-minute', '1000000', '--per-day', String(LIMIT)];
  const keys = await Promise.all([issue(...limited), issue(...AMPLE), issue(...AMPLE)]);
  return { limited: keys[0], create: keys[1], revocable: keys[2] };
}

async function run({ seed, isShort, path, say }: Run): Promise<Result> {
  const rounds = isShort ? ROUNDS.short : ROUNDS.full;
  const [first, end] = path === undefined ? [0, rounds] : [Number(path), Number(path) + 1];
  await using cluster = await Cluster.start(NODES);
  const kinds: Record<string, number> = { node: 0, redis: 0, database: 0 };
  for (let index = first; index < end; index++) {
    const day = new Date().getUTCDate();
    const round = new Round(cluster, seed + index, await issueKeys(cluster));
    const found = await round.run();
    // The limit is one of a day.
    if (day !== new Date().getUTCDate()) continue;
    for (const { disturbs } of round.faults) kinds[disturbs]!++;
    say(`   round ${index}: ${round.describe()}`);
    if (found.length > 0) {
      return { tried: `${index - first + 1} rounds`, figures: {}, faults: found, path: `${index}` };
    }
  }
  const figures = Object.fromEntries(
    Object.entries(kinds).map(([kind, count]) => [`faults of ${kind}`, count]),
  );
  const tried = `${end - first} rounds of ${REQUESTS} requests to ${NODES} nodes`;
  return { tried, figures, faults: [] };
}

export const faults: Part = {
  name: 'faults',
  tries:
    'three nodes on PostgreSQL and Redis; nodes, connections, Redis and PostgreSQL are killed, paused, cut off and delayed between requests',
  holds:
    'exactly the limit is admitted while the counts are shared, and the documented bound while they are not; at most one pet exists per `Idempotency-Key`; nothing acknowledged is lost; a revoked key is rejected within a second on each node that reaches PostgreSQL; no request fails because of Redis',
  needs: ['postgres', 'redis'],
  run,
};
