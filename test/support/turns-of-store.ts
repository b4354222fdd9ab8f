import { Metrics } from '../../src/telemetry/metrics.js';
import type { TestService } from './start-service.js';
import type { Watch } from './undisturbed.js';

/**
 * Whether a node has turned from Redis to its own counters, or back: a machine that is busy enough makes
 * any Redis too slow, and then nodes do not count together, as promised.
 */
export function turnsOfStore(...nodes: readonly TestService[]): Watch {
  return () => {
    const spies = nodes.map(({ store }) => jest.spyOn(store.app.get(Metrics), 'setQuotaStore'));
    // Those of an earlier watch count no more.
    const turns = () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    const before = turns();
    return () => turns() !== before;
  };
}
