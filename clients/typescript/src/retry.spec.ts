import { createError, PetStoreConnectionError } from './errors.js';
import { delayMs, isRetryable, readRetryAfter, withJitter } from './retry.js';

const failure = (status: number, code: string, retryAfterSeconds?: number) =>
  createError({ status, code, message: '', requestId: undefined, retryAfterSeconds });

describe(isRetryable.name, () => {
  it.each([
    ['a broken connection', new PetStoreConnectionError(''), 1, true],
    ['a limit', failure(429, 'rate_limit_exceeded'), 1, true],
    ['a ban', failure(429, 'key_banned'), 1, false],
    ['an outage', failure(503, 'service_unavailable'), 1, true],
    ['an outage that a proxy reports', failure(503, 'unexpected_response'), 1, true],
    ['an internal error', failure(500, 'internal_error'), 1, false],
    ['a bad request', failure(400, 'invalid_request'), 1, false],
    ['a create of another caller', failure(409, 'idempotency_key_in_use'), 1, false],
    ['its own create, still in progress', failure(409, 'idempotency_key_in_use'), 2, true],
    ['an error of a hook', new Error('broken hook'), 1, false],
  ])('decides on %s', (_case, error, attempt, isRetried) =>
    expect(isRetryable(error, attempt)).toBe(isRetried),
  );
});

describe(delayMs.name, () => {
  const limited = failure(429, 'rate_limit_exceeded', 30);

  it('waits for Retry-After plus up to a tenth', () => {
    expect(delayMs(limited, 1, () => 0)).toBe(30_000);
    expect(delayMs(limited, 1, () => 1)).toBe(33_000);
  });

  it('adds a jitter of at least 100 ms', () => expect(withJitter(200, () => 1)).toBe(300));

  it('otherwise doubles up to 10 s, with full jitter', () => {
    const delays = [1, 2, 3, 20].map((attempt) => delayMs(new Error(), attempt, () => 1));
    expect(delays).toEqual([250, 500, 1_000, 10_000]);
    expect(delayMs(new Error(), 3, () => 0)).toBe(0);
  });
});

describe(readRetryAfter.name, () => {
  const now = Date.parse('2026-06-15T12:00:00Z');
  it.each([
    ['17', 17],
    ['Mon, 15 Jun 2026 12:00:30 GMT', 30],
    ['Mon, 15 Jun 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    [null, undefined],
  ])('reads %s', (field, seconds) => expect(readRetryAfter(field, now)).toBe(seconds));
});
