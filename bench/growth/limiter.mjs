// Compares the rate limiter, in process, with the storage of @nestjs/throttler.
import { ThrottlerStorageService } from '@nestjs/throttler';
import { median } from '../compare.mjs';
import { root } from '../settings.mjs';

const LIMITS = [1_000, 10_000, 1_000_000];
/** The stock storage has a timer and an entry per hit: beyond this limit it takes minutes. */
const STOCK_LIMIT = 10_000;
const ROUNDS = 5;
const HITS = 100_000;
const STOCK_HITS = 500;
const SUBJECTS = 200;

/**
 * The service with 200 keys below their limit; the stock storage with one key at its limit, where it is slowest.
 * @returns {Promise<{limit: number, nanoseconds: number, stockNanoseconds?: number}[]>}
 */
export async function growthOfLimiter() {
  const { MemoryStore } = await import(`${root}dist/src/rate-limits/stores/memory.store.js`);
  const { Clock } = await import(`${root}dist/src/time/clock.js`);
  const { Limits } = await import(`${root}dist/src/rate-limits/limits.js`);
  const config = { banAfterRejections: 100, banSeconds: 300 };
  const results = [];
  for (const limit of LIMITS) {
    const store = new MemoryStore(new Clock(), config);
    const limits = new Limits(limit, 1_000_000_000, true);
    const take = (subject) => store.take(subject, limits);
    const result = { limit, nanoseconds: await timeOf(HITS, take) };
    if (limit <= STOCK_LIMIT) result.stockNanoseconds = await stock(limit);
    results.push(result);
    console.log(
      `limiter at a limit of ${limit}: ours ${result.nanoseconds} ns, stock ${result.stockNanoseconds ?? 'not measured'}`,
    );
  }
  return results;
}

async function stock(limit) {
  const storage = new ThrottlerStorageService();
  const hit = () => storage.increment('key', 60_000, limit, 0, 'minute');
  for (let count = 1; count < limit; count++) await hit();
  const nanoseconds = await timeOf(STOCK_HITS, hit);
  storage.onApplicationShutdown();
  return nanoseconds;
}

/** Median time of a hit in nanoseconds. */
async function timeOf(hits, take) {
  const samples = [];
  for (let round = 0; round < ROUNDS; round++) {
    const subjects = Array.from({ length: SUBJECTS }, (_, index) => `key_${round}-${index}`);
    const began = performance.now();
    for (let hit = 0; hit < hits; hit++) {
      const taken = take(subjects[hit % SUBJECTS]);
      if (taken instanceof Promise) await taken;
    }
    samples.push(((performance.now() - began) / hits) * 1e6);
  }
  return Math.round(median(samples));
}
