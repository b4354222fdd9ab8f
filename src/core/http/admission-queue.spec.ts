import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { AdmissionQueue } from './admission-queue.js';

describe(AdmissionQueue.name, () => {
  const PER_TICK = 64;
  let queue: AdmissionQueue;
  let started: number[];
  const enqueue = (from: number, to: number): void => {
    const list = started;
    for (let one = from; one < to; one++) queue.enqueue(() => list.push(one));
  };
  const upTo = (end: number): number[] => Array.from({ length: end }, (_none, index) => index);
  beforeEach(() => {
    queue = new AdmissionQueue();
    started = [];
  });

  it('starts a request immediately while there is capacity', () => {
    enqueue(0, PER_TICK + 1);
    expect(started).toEqual(upTo(PER_TICK));
  });

  it('starts each request in the context in which it was queued', async () => {
    const context = new AsyncLocalStorage<number>();
    const contexts: (number | undefined)[] = [];
    for (const one of upTo(2 * PER_TICK)) {
      context.run(one, () => queue.enqueue(() => contexts.push(context.getStore())));
    }
    await setImmediate();
    expect(contexts).toEqual(upTo(2 * PER_TICK));
  });

  it('starts at most 64 requests per tick, in their order', async () => {
    enqueue(0, 2 * PER_TICK + 1);
    await setImmediate();
    expect(started).toEqual(upTo(2 * PER_TICK));
    enqueue(2 * PER_TICK + 1, 2 * PER_TICK + 3);
    await setImmediate();
    expect(started).toEqual(upTo(2 * PER_TICK + 3));
  });

  it('lets four probes overtake in a tick, and queues the others', async () => {
    enqueue(0, PER_TICK + 1);
    const probes = ['a', 'b', 'c', 'd', 'e'];
    for (const probe of probes) queue.enqueue(() => started.push(probe as never), true);
    expect(started).toEqual([...upTo(PER_TICK), 'a', 'b', 'c', 'd']);
    await setImmediate();
    expect(started.slice(-2)).toEqual([PER_TICK, 'e']);
  });

  it('starts half of the requests of the previous tick, and the others in the next', async () => {
    enqueue(0, 20);
    await setImmediate();
    enqueue(20, 41);
    expect(started).toEqual(upTo(30));
    await setImmediate();
    expect(started).toEqual(upTo(41));
  });

  it('starts up to four requests, however few the previous tick had', async () => {
    enqueue(0, 1);
    await setImmediate();
    enqueue(1, 6);
    expect(started).toEqual(upTo(5));
  });

  it('starts none in ticks that accept a connection, but for every 17th', async () => {
    enqueue(0, 2 * PER_TICK);
    for (let tick = 0; tick < 16; tick++) {
      queue.connectionAccepted();
      await setImmediate();
    }
    expect(started).toEqual(upTo(PER_TICK));
    queue.connectionAccepted();
    await setImmediate();
    expect(started).toEqual(upTo(2 * PER_TICK));
  });

  it('reports the longest wait since the last report', async () => {
    enqueue(0, PER_TICK);
    expect(queue.takeLongestWaitMs()).toBe(0);
    enqueue(PER_TICK, PER_TICK + 1);
    const untilMs = performance.now() + 20;
    while (performance.now() < untilMs);
    await setImmediate();
    expect(queue.takeLongestWaitMs()).toBeGreaterThanOrEqual(20);
    expect(queue.takeLongestWaitMs()).toBe(0);
  });
});
