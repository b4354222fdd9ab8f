import { IdempotencyService } from '../../src/core/idempotency/idempotency.service.js';
import { LastUses } from '../../src/core/keys/last-uses.js';
import { UsageRecorder } from '../../src/core/usage/usage-recorder.js';
import { UsageRepository } from '../../src/core/usage/usage.repository.js';
import type { TestService } from './start-service.js';

/** What the service does in the background from time to time, done now. */

export function saveUsage({ store }: TestService): Promise<void> {
  return store.app.get(UsageRecorder).flush();
}

export async function deleteUsageBefore({ store }: TestService, timeMs: number): Promise<void> {
  await store.app.get(UsageRepository).deleteBefore(timeMs, new AbortController().signal);
}

export async function saveLastUses({ store }: TestService): Promise<void> {
  await store.app.get(LastUses).flush();
}

export async function deleteIdempotencyRecords({ store }: TestService): Promise<void> {
  await store.app.get(IdempotencyService).purge();
}
