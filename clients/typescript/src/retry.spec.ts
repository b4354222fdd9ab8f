import { PetStoreConnectionError, PetStoreError } from './errors.js';
import { delayMs, isWorthRetrying, readRetryAfter, withJitter } from './retry.js';

const answer = (status: number, code: string, retryAfterSeconds?: number) =>
  new PetStoreError({ status, code, message: '', requestId: undefined, retryAfterSeconds });

describe(isWorthRetrying.name, () => {
  it.each([
    ['a broken connection', new PetStoreConnectionError(), 1, true],
    ['a limit', answer(429, 'rate_limit_exceeded'), 1, true],
    ['a ban', answer(429, 'key_banned'), 1, false],
    ['an outage', answer(503, 'service_unavailable'), 1, true],
    ['an outage that a proxy tells of', answer(503, 'unexpected_response'), 1, true],
    ['a fault of the service', answer(500, 'internal_error'), 1, false],
    ['a bad request', answer(400, 'invalid_request'), 1, false],
    ["another one's create", answer(409, 'idempotency_key_in_use'), 1, false],
    ['its own create, still under way', answer(409, 'idempotency_key_in_use'), 2, true],
    ['what a hook throws', new Error('broken hook'), 1, false],
  ])('judges %s', (_what, error, tries, worth) =>
    expect(isWorthRetrying(error, tries)).toBe(worth),
  );
});

describe(delayMs.name, () => {
  const limited = answer(429, 'rate_limit_exceeded', 30);

  it('waits Retry-After and up to a tenth more', () => {
    expect(delayMs(limited, 1, () => 0)).toBe(30_000);
    expect(delayMs(limited, 1, () => 1)).toBe(33_000);
  });

  it('jitters by 100 ms at least', () => expect(withJitter(200, () => 1)).toBe(300));

  it('doubles otherwise, with full jitter, up to 10 s', () => {
    const delays = [1, 2, 3, 20].map((tries) => delayMs(new Error(), tries, () => 1));
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
