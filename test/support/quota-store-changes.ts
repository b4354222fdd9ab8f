import { Metrics } from '../../src/telemetry/metrics.js';
import type { TestService } from './start-service.js';
import type { Watch } from './undisturbed.js';

/**
 * Watches whether a node switches between Redis and its own counters. On a busy machine Redis may
 * be too slow, and the nodes then count separately.
 */
export function quotaStoreChanges(...nodes: readonly TestService[]): Watch {
  return () => {
    const spies = nodes.map(({ store }) => jest.spyOn(store.app.get(Metrics), 'setQuotaStore'));
    // The spies may have calls of an earlier watch.
    const changes = () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    const before = changes();
    return () => changes() !== before;
  };
}
