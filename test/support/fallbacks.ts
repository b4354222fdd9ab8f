import { RateLimitStore } from '../../src/core/rate-limits/stores/rate-limit-store.js';
import type { TestService } from './start-service.js';
import type { Watch } from './undisturbed.js';

/** Shorter than a fallback, which lasts until a probe of Redis. */
const SAMPLE_MS = 20;

/**
 * Watches whether a node falls back to its own counters. On a busy machine Redis may be too slow,
 * and the nodes then count separately.
 */
export function fallbacks(...nodes: readonly TestService[]): Watch {
  return () => {
    const stores = nodes.map(({ store }) => store.app.get(RateLimitStore));
    let hasOccurred = false;
    const timer = setInterval(() => {
      hasOccurred ||= stores.some(({ mode }) => mode === 'fallback');
    }, SAMPLE_MS).unref();
    return () => {
      clearInterval(timer);
      return hasOccurred;
    };
  };
}
