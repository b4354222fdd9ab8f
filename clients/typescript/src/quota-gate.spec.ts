import { PetStoreError } from './errors.js';
import { QuotaGate } from './quota-gate.js';
import type { RateLimitReading } from './rate-limit.js';

/** What an answer says that has so many of 100 left, `seconds` before the window ends. */
function reading(remaining: number, seconds = 30, limit = 100): RateLimitReading {
  const minute = { limit, remaining };
  const day = { limit: 1_000, remaining: 900 };
  const state = { ...minute, resetAt: new Date(), minute, day };
  return { state, minuteSeconds: seconds, daySeconds: 40_000 };
}

function refusal(code: string, retryAfterSeconds: number, status = 429): PetStoreError {
  return new PetStoreError({ code, message: '', status, requestId: '', retryAfterSeconds });
}

/** As a proxy on the way has it, without a word on the quota. */
const bareFailure = new PetStoreError({
  code: 'unexpected_response',
  message: '',
  status: 502,
  requestId: undefined,
  retryAfterSeconds: undefined,
});

describe(QuotaGate.name, () => {
  let nowMs: number;
  let timers: { at: number; callback: () => void }[];
  let gate: QuotaGate;
  beforeEach(() => {
    nowMs = 0;
    timers = [];
    gate = new QuotaGate({
      now: () => nowMs,
      random: () => 1,
      after: (ms, callback) => {
        if (ms === Infinity) return () => undefined;
        const timer = { at: nowMs + ms, callback };
        timers.push(timer);
        return () => (timers = timers.filter((each) => each !== timer));
      },
    });
  });

  async function pass(ms: number): Promise<void> {
    nowMs += ms;
    const due = timers.filter(({ at }) => at <= nowMs);
    timers = timers.filter(({ at }) => at > nowMs);
    for (const { callback } of due) callback();
    await settle();
  }

  /** How many of so many calls may leave now. */
  async function leaving(calls: number): Promise<number> {
    let left = 0;
    for (let call = 0; call < calls; call++) void gate.pass(undefined, Infinity).then(() => left++);
    await settle();
    return left;
  }

  async function answer(told: RateLimitReading | undefined, error?: PetStoreError): Promise<void> {
    gate.learn(told, error);
    gate.leave(0);
    await settle();
  }

  const settle = () => new Promise((resume) => setImmediate(resume));

  it('begins with one request, and lets twice as many leave each round', async () => {
    expect(await leaving(1)).toBe(1);
    expect(await leaving(1)).toBe(0);
    await answer(reading(99));
    await answer(reading(98));
    expect(await leaving(10)).toBe(3);
  });

  it('lets no more leave than are left', async () => {
    await leaving(1);
    await answer(reading(2, 30, 3));
    expect(await leaving(10)).toBe(2);
  });

  it('takes a small part where others use the key as well', async () => {
    await leaving(1);
    await answer(reading(50));
    expect(await leaving(10)).toBe(1);
  });

  it('is closed while nothing is left, until a little after the window ends', async () => {
    await leaving(1);
    await answer(reading(0, 30));
    expect(await leaving(1)).toBe(0);
    await pass(32_999);
    expect(timers).toHaveLength(1);
    await pass(1);
    expect(timers).toHaveLength(0);
  });

  it('waits for the day where that is used up', async () => {
    await leaving(1);
    const told = reading(10);
    told.state.day.remaining = 0;
    await answer(told);
    await leaving(1);
    expect(timers[0]!.at).toBe(44_000_000);
  });

  it('is not misled by an answer of the window before', async () => {
    await leaving(1);
    await answer(reading(99, 60));
    await leaving(1);
    await answer(reading(1, 1));
    expect(await leaving(2)).toBe(2);
  });

  it('holds nothing back where answers tell nothing', async () => {
    await leaving(1);
    await answer(undefined);
    expect(await leaving(10)).toBe(10);
  });

  it.each([
    ['a failure', bareFailure],
    ['an answer', undefined],
  ])('keeps to what it knows of the quota where %s tells nothing of it', async (_what, failure) => {
    await leaving(1);
    await answer(reading(99));
    await leaving(2);
    await answer(undefined, failure);
    expect(await leaving(10)).toBe(1);
  });

  it('goes on with one request where the window ends and an answer tells nothing', async () => {
    await leaving(1);
    await answer(reading(99, 30));
    nowMs += 30_000;
    await leaving(1);
    await answer(undefined);
    expect(await leaving(10)).toBe(1);
  });

  it('holds a crowd back where the first answer is a failure that tells nothing', async () => {
    await leaving(1);
    await answer(undefined, bareFailure);
    expect(await leaving(10)).toBe(1);
  });

  it.each([
    ['invalid_api_key', 401],
    ['service_unavailable', 503],
  ])('learns nothing from %s, which may tell of the quota of the address', async (code, status) => {
    await leaving(1);
    await answer(reading(99));
    await leaving(1);
    await answer(reading(0, 30, 60), refusal(code, 1, status));
    expect(await leaving(10)).toBe(2);
  });

  it('does not let a slow answer hold up the others', async () => {
    await leaving(1);
    const waiting = leaving(1);
    await settle();
    await pass(250);
    expect(await waiting).toBe(0);
    expect(timers).toHaveLength(0);
  });

  /** How long the gate waits each time that no answer comes. */
  async function patience(times: number): Promise<number[]> {
    await leaving(times + 3);
    const waits: number[] = [];
    while (waits.length < times) {
      waits.push(timers[0]!.at - nowMs);
      await pass(waits.at(-1)!);
    }
    return waits;
  }

  it('waits twice as long as answers take for one that does not come, and longer each time', async () => {
    await leaving(1);
    gate.learn(reading(99), undefined);
    gate.leave(600);
    expect(await patience(5)).toEqual([1_200, 2_400, 4_800, 9_600, 10_000]);
  });

  it('learns nothing from what had no answer', async () => {
    await leaving(1);
    nowMs += 8_000;
    gate.leave();
    await leaving(1);
    expect(await patience(2)).toEqual([250, 500]);
  });

  it('forgets a slow answer with eight quick ones', async () => {
    await leaving(1);
    gate.leave(30_000);
    for (let quick = 0; quick < 8; quick++) {
      await leaving(1);
      gate.leave(1);
    }
    await leaving(1);
    expect(await patience(1)).toEqual([250]);
  });

  it('has nobody wait longer than its time for a word of the service', async () => {
    await leaving(1);
    const first = gate.pass(undefined, 2_000);
    const second = gate.pass(undefined, 600);
    await pass(250);
    await expect(first).resolves.toBe(250);
    await pass(349);
    const failed = expect(second).rejects.toMatchObject({ timeoutMs: 600 });
    await pass(1);
    await failed;
    expect(timers).toHaveLength(0);
  });

  it('counts the time anew from each answer, and not while nothing is left', async () => {
    await leaving(1);
    const next = gate.pass(undefined, 600);
    await pass(200);
    await answer(reading(0, 30));
    await pass(10_000);
    await pass(23_000);
    await expect(next).resolves.toBe(0);
  });

  it('refuses at once while the key is banned, and opens when the ban ends', async () => {
    await leaving(1);
    await answer(reading(0), refusal('key_banned', 300));
    await pass(100_000);
    await expect(gate.pass(undefined, Infinity)).rejects.toMatchObject({
      code: 'key_banned',
      retryAfterSeconds: 200,
    });
    await pass(200_000);
    await expect(gate.pass(undefined, Infinity)).resolves.toBe(0);
  });

  it('refuses those as well that were waiting when the ban came', async () => {
    await leaving(1);
    const waiting = gate.pass(undefined, Infinity);
    gate.learn(reading(0), refusal('key_banned', 300));
    gate.leave();
    await expect(waiting).rejects.toMatchObject({ code: 'key_banned' });
  });

  it('refuses at once as well where it is the usage that tells of the ban', async () => {
    await leaving(1);
    const waiting = gate.pass(undefined, Infinity);
    gate.learnUsage(reading(0, 300), refusal('key_banned', 300));
    const ban = { code: 'key_banned', retryAfterSeconds: 300 };
    await expect(waiting).rejects.toMatchObject(ban);
    await expect(gate.pass(undefined, Infinity)).rejects.toMatchObject(ban);
  });

  it('opens as soon as the usage tells that the ban has ended', async () => {
    await leaving(1);
    await answer(reading(0, 50));
    gate.learn(reading(0, 300), refusal('key_banned', 300));
    gate.learnUsage(reading(0, 299), refusal('key_banned', 299));
    gate.learnUsage(reading(99, 20), undefined);
    expect(await leaving(1)).toBe(1);
  });

  it('lets those leave that wait for a quota, once the usage tells of a larger one', async () => {
    await leaving(1);
    await answer(reading(0));
    const waiting = gate.pass(undefined, Infinity);
    gate.learnUsage(reading(200, 30, 300), undefined);
    await expect(waiting).resolves.toBe(0);
  });

  it('lets go of a caller that does not want to wait any more', async () => {
    await leaving(1);
    const controller = new AbortController();
    const waiting = gate.pass(controller.signal, Infinity);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    expect(timers).toHaveLength(0);
  });
});
