import { RateLimitStore } from '../../src/core/rate-limits/stores/rate-limit-store.js';
import type { TestService } from './start-service.js';

/** How many requests of a client were admitted today, without asking the service. */
export async function usedToday({ store }: TestService, clientId: string): Promise<number> {
  return (await store.app.get(RateLimitStore).peek(clientId)).dayUsed;
}

/** The counters report this end of a ban once, as if they had not yet heard of its end. */
export async function reportBanOnce(
  { store }: TestService,
  clientId: string,
  bannedUntilMs: number,
): Promise<void> {
  const counters = store.app.get(RateLimitStore);
  const counts = await counters.peek(clientId);
  jest.spyOn(counters, 'peek').mockReturnValueOnce({ ...counts, bannedUntilMs });
}
