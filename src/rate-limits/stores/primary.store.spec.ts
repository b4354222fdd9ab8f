import { FakeClock } from '../../../test/support/clock.js';
import { describeStore, SUITE_POLICY } from '../../../test/support/rate-limit-store.suite.js';
import type { Answer, Ask, CounterChannel } from './counter-channel.js';
import { Limits } from '../limits.js';
import { MemoryStore } from './memory.store.js';
import { PrimaryCounter } from './primary-counter.js';
import { PrimaryStore } from './primary.store.js';

const limits = new Limits(2, 3);

function share(clock: FakeClock): {
  store: PrimaryStore;
  channel: CounterChannel;
  batches: number[];
} {
  const counter = new PrimaryCounter(new MemoryStore(clock, SUITE_POLICY));
  const batches: number[] = [];
  const channel: CounterChannel = {
    ask: async (asks) => {
      batches.push(asks.length);
      await new Promise((resume) => setImmediate(resume));
      // As between processes: nothing but JSON gets through.
      const heard = JSON.parse(JSON.stringify(asks)) as Ask[];
      return JSON.parse(JSON.stringify(counter.answer(heard))) as Answer[];
    },
  };
  return { store: new PrimaryStore(channel), channel, batches };
}

describe(PrimaryStore.name, () => {
  it('asks once for all that is asked within a turn, and gives each its own answer', async () => {
    const { store, batches } = share(new FakeClock());
    const [one, two, other, peeked] = await Promise.all([
      store.take('one', limits),
      store.take('one', limits),
      store.take('other', limits),
      store.peek('one'),
    ]);
    expect([one, two, other, peeked].map(({ dayUsed }) => dayUsed)).toEqual([1, 2, 1, 2]);
    expect(batches).toEqual([4]);
    expect((await store.take('one', limits)).admitted).toBe(false);
    expect(batches).toEqual([4, 1]);
  });

  it('has a share of a window told of once, by whoever comes first', async () => {
    const { channel } = share(new FakeClock());
    const raise = async (...share: [name: string, at: number, percent: number]) =>
      (await channel.ask([['told', ...share]]))[0];
    expect(await raise('day:one', 7, 75)).toBe(0);
    expect(await raise('day:one', 7, 75)).toBe(75);
    expect(await raise('day:one', 7, 100)).toBe(75);
    expect(await raise('day:other', 7, 90)).toBe(0);
    expect(await raise('day:one', 8, 75)).toBe(0);
  });

  it('waits no longer than for a database for who does not answer, and goes on once that does', async () => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    try {
      const { channel } = share(new FakeClock());
      let isStuck = true;
      const store = new PrimaryStore({
        ask: (asks) => (isStuck ? new Promise(() => undefined) : channel.ask(asks)),
      });
      const taken = store.take('one', limits).catch((error: unknown) => error);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(await Promise.race([taken, Promise.resolve('still waiting')])).toMatchObject({
        code: 'service_unavailable',
        headers: { 'Retry-After': expect.anything() },
      });
      isStuck = false;
      const next = store.take('one', limits);
      await jest.advanceTimersByTimeAsync(100);
      expect(await next).toMatchObject({ admitted: true });
    } finally {
      jest.useRealTimers();
    }
  });

  it('fails whoever waits where the channel fails', async () => {
    const store = new PrimaryStore({ ask: () => Promise.reject(new Error('gone')) });
    await expect(store.take('one', limits)).rejects.toThrow('gone');
    await expect(store.unban('one')).rejects.toThrow('gone');
  });
});

describeStore(
  PrimaryStore.name,
  () => {
    const clock = new FakeClock();
    return Promise.resolve({ store: share(clock).store, clock, close: () => Promise.resolve() });
  },
  true,
);
