import { createError, PetStoreConnectionError, type PetStoreError } from './errors.js';
import { QuotaGate } from './quota-gate.js';
import type { RateLimitReading } from './rate-limit.js';

function reading(remaining: number, seconds = 30, limit = 100): RateLimitReading {
  const minute = { limit, remaining };
  const day = { limit: 1_000, remaining: 900 };
  const state = { ...minute, resetAt: new Date(), minute, day };
  return { state, minuteSeconds: seconds, daySeconds: 40_000 };
}

const failure = (code: string, status: number, retryAfterSeconds?: number) =>
  createError({ code, status, message: '', requestId: undefined, retryAfterSeconds });
const ban = failure('key_banned', 429, 300);

describe(QuotaGate.name, () => {
  let nowMs: number;
  let timers: { at: number; callback: () => void }[];
  let gate: QuotaGate;
  beforeEach(() => {
    nowMs = 0;
    timers = [];
    const after = (ms: number, callback: () => void) => {
      const timer = { at: nowMs + ms, callback };
      timers.push(timer);
      return () => (timers = timers.filter((each) => each !== timer));
    };
    gate = new QuotaGate({ now: () => nowMs, random: () => 1, after });
  });

  const settle = () => new Promise((resume) => setImmediate(resume));

  async function advance(ms: number): Promise<void> {
    nowMs += ms;
    for (const { at, callback } of timers) if (at <= nowMs) callback();
    await settle();
  }

  /** @returns how many of these requests may be sent now. */
  async function admitted(requests: number): Promise<number> {
    let count = 0;
    for (let each = 0; each < requests; each++) void gate.enter(undefined).then(() => count++);
    await settle();
    return count;
  }

  async function respond(
    read: RateLimitReading | undefined,
    error?: PetStoreError,
    sentAt = nowMs,
  ): Promise<void> {
    gate.update(read, error, sentAt);
    gate.leave(error);
    await settle();
  }

  it('sends one request first, then as many at once as are left', async () => {
    const sent = admitted(5);
    expect(await sent).toBe(1);
    await respond(reading(3));
    expect(await admitted(1)).toBe(0);
    await respond(reading(2));
    expect(await admitted(1)).toBe(0);
  });

  it.each([
    ['the minute', reading(0, 30), 33_000],
    [
      'the day',
      { ...reading(5), state: { ...reading(5).state, day: { limit: 9, remaining: 0 } } },
      44_000_000,
    ],
  ])(
    'sends nothing while the quota of %s is used up, until shortly after its end',
    async (_window, read, ms) => {
      await admitted(1);
      await respond(read);
      const waiting = gate.enter(undefined);
      await advance(ms - 1);
      expect(timers).toHaveLength(1);
      await advance(1);
      await expect(waiting).resolves.toBeUndefined();
    },
  );

  it('ignores a late response of the window before', async () => {
    await admitted(1);
    await respond(reading(99, 60));
    await admitted(1);
    await respond(reading(0, 1));
    expect(await admitted(2)).toBe(2);
  });

  it('does not mistake a slow response for one of the next window', async () => {
    await admitted(1);
    await respond(reading(99, 60));
    await admitted(2);
    await advance(10_000);
    await respond(reading(1, 50));
    await respond(reading(90, 60), undefined, 0);
    expect(await admitted(2)).toBe(1);
  });

  it.each([
    ['invalid_api_key', 401],
    ['service_unavailable', 503],
  ])('ignores the quota in %s, which may be that of the address', async (code, status) => {
    await admitted(1);
    await respond(reading(0), failure(code, status));
    expect(await admitted(1)).toBe(1);
  });

  it('limits nothing if responses have no rate-limit headers', async () => {
    await admitted(1);
    await respond(undefined);
    expect(await admitted(10)).toBe(10);
  });

  it('sends one request at a time after an error without rate-limit headers', async () => {
    await admitted(1);
    await respond(undefined, failure('unexpected_response', 502));
    expect(await admitted(10)).toBe(1);
  });

  it('fails the waiting requests if the first one gets no response', async () => {
    await admitted(1);
    const waiting = gate.enter(undefined);
    const error = new PetStoreConnectionError('');
    gate.leave(error);
    await expect(waiting).rejects.toBe(error);
    expect(await admitted(1)).toBe(1);
  });

  it('fails waiting and new requests during a ban, and none after it', async () => {
    await admitted(1);
    const waiting = gate.enter(undefined);
    gate.update(reading(0), ban, nowMs);
    gate.leave(ban);
    await expect(waiting).rejects.toMatchObject({ code: 'key_banned' });
    await advance(100_000);
    const banned = { name: 'RateLimitError', code: 'key_banned', retryAfterSeconds: 200 };
    await expect(gate.enter(undefined)).rejects.toMatchObject(banned);
    await advance(200_000);
    expect(await admitted(1)).toBe(1);
  });

  it('takes a ban, its end and another plan from the usage', async () => {
    await admitted(1);
    gate.replace(reading(0, 300), ban);
    await expect(gate.enter(undefined)).rejects.toMatchObject({ code: 'key_banned' });
    gate.leave();
    gate.replace(reading(0), undefined);
    const waiting = gate.enter(undefined);
    gate.replace(reading(200, 30, 300), undefined);
    await expect(waiting).resolves.toBeUndefined();
  });

  it('releases a request that is aborted while it waits', async () => {
    await admitted(1);
    await respond(reading(0));
    const controller = new AbortController();
    const waiting = gate.enter(controller.signal);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    expect(timers).toHaveLength(0);
  });
});
