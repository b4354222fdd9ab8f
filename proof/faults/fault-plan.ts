import type { FaultProxy } from '../../test/support/fault-proxy.js';
import type { Random } from '../../test/support/random.js';
import type { Cluster, ClusterNode } from './cluster.js';

/** A fault that begins after one request of a round and ends after another. */
export interface Fault {
  name: string;
  target: unknown;
  disturbs: 'node' | 'redis' | 'database';
  /** Whether Redis loses its counts. */
  isFlush: boolean;
  begin(): unknown;
  end(): unknown;
}

export interface PlannedFault extends Fault {
  beginsAfter: number;
  endsAfter: number;
}

const LINES = ['stall', 'lose', 'cut', 'refuse'] as const;
const LONGEST_DELAY_MS = 60;
const MOST_FAULTS = 3;
/** A fault lasts for so many requests at most. */
const LONGEST = 60;

/** Draws one to three faults, each of another target, for a round of so many requests. */
export function planFaults(cluster: Cluster, random: Random, requests: number): PlannedFault[] {
  const planned = random.times(1 + random.below(MOST_FAULTS), () => {
    const beginsAfter = 1 + random.below(requests - LONGEST - 1);
    const endsAfter = beginsAfter + 1 + random.below(LONGEST);
    return Object.assign(drawFault(cluster, random), { beginsAfter, endsAfter });
  });
  const targets = planned.map(({ target }) => target);
  return planned.filter(({ target }, index) => targets.indexOf(target) === index);
}

function drawFault(cluster: Cluster, random: Random): Fault {
  const node = random.pick(cluster.nodes);
  const drawn = random.below(8);
  if (drawn === 0) return killed(node);
  if (drawn === 1) return paused(node);
  if (drawn <= 3) return ofLine(node, 'redis', random);
  if (drawn <= 5) return ofLine(node, 'database', random);
  return drawn === 6 ? ofRedis(cluster, random) : ofPostgres(cluster, random);
}

function killed(node: ClusterNode): Fault {
  return {
    name: `${node.name} is killed`,
    target: node,
    disturbs: 'node',
    isFlush: false,
    begin: () => {
      node.reachesDatabaseSince = undefined;
      return node.kill();
    },
    // Without PostgreSQL it cannot start; the end of the round starts it then.
    end: () =>
      node.start().then(
        () => reaches(node),
        () => undefined,
      ),
  };
}

function paused(node: ClusterNode): Fault {
  return {
    name: `${node.name} is paused`,
    target: node,
    disturbs: 'node',
    isFlush: false,
    begin: () => {
      node.reachesDatabaseSince = undefined;
      node.signal('SIGSTOP');
    },
    end: () => {
      node.signal('SIGCONT');
      reaches(node);
    },
  };
}

function ofLine(node: ClusterNode, to: 'redis' | 'database', random: Random): Fault {
  const proxy: FaultProxy = node[to];
  const delayMs = 1 + random.below(LONGEST_DELAY_MS);
  const how = random.pick([...LINES, 'delay'] as const);
  return {
    name: `${node.name}: ${how} of its connections to ${to}`,
    target: proxy,
    disturbs: to,
    isFlush: false,
    begin: () => {
      if (to === 'database') node.reachesDatabaseSince = undefined;
      if (how === 'delay') proxy.delay(delayMs);
      else proxy[how]();
    },
    end: () => {
      proxy.pass();
      if (to === 'database') reaches(node);
    },
  };
}

function ofRedis({ redis: target }: Cluster, random: Random): Fault {
  if (random.chance(0.5)) {
    const name = 'Redis is paused';
    const [begin, end] = [() => target.stall(), () => target.resume()];
    return { name, target, disturbs: 'redis', isFlush: false, begin, end };
  }
  const [begin, end] = [() => target.kill(), () => target.run()];
  return {
    name: 'Redis is killed and loses its data',
    target,
    disturbs: 'redis',
    isFlush: true,
    begin,
    end,
  };
}

function ofPostgres({ postgres, nodes }: Cluster, random: Random): Fault {
  const isPause = random.chance(0.5);
  return {
    name: isPause ? 'PostgreSQL is paused' : 'PostgreSQL is stopped',
    target: postgres,
    disturbs: 'database',
    isFlush: false,
    begin: () => {
      for (const node of nodes) node.reachesDatabaseSince = undefined;
      return isPause ? postgres.stall() : postgres.stop();
    },
    end: async () => {
      if (isPause) postgres.resume();
      else await postgres.run();
      nodes.forEach(reaches);
    },
  };
}

function reaches(node: ClusterNode): void {
  node.reachesDatabaseSince = performance.now();
}
