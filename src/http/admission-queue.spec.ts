import { setImmediate } from 'node:timers/promises';
import { AdmissionQueue } from './admission-queue.js';

describe(AdmissionQueue.name, () => {
  const PER_TURN = 64;
  let line: AdmissionQueue;
  let begun: number[];
  const join = (from: number, to: number): void => {
    // What is still in line at the end of a test is none of the next.
    const list = begun;
    for (let one = from; one < to; one++) line.join(() => list.push(one));
  };
  const upTo = (end: number): number[] => Array.from({ length: end }, (_none, index) => index);
  beforeEach(() => {
    line = new AdmissionQueue();
    begun = [];
  });

  it('has whoever comes first begin at once', () => {
    join(0, PER_TURN);
    expect(begun).toEqual(upTo(PER_TURN));
  });

  it('has so many begin in each turn, in the order in which they came', async () => {
    join(0, 2 * PER_TURN + 1);
    expect(begun).toEqual(upTo(PER_TURN));
    await setImmediate();
    expect(begun).toEqual(upTo(2 * PER_TURN));
    join(2 * PER_TURN + 1, 2 * PER_TURN + 3);
    await setImmediate();
    expect(begun).toEqual(upTo(2 * PER_TURN + 3));
  });

  it('has half as many begin as were here in the turn before, and the others in the next one', async () => {
    join(0, 20);
    expect(begun).toEqual(upTo(20));
    await setImmediate();
    join(20, 41);
    expect(begun).toEqual(upTo(30));
    await setImmediate();
    expect(begun).toEqual(upTo(41));
  });

  it('has a few begin however few were here', async () => {
    join(0, 1);
    await setImmediate();
    join(1, 6);
    expect(begun).toEqual(upTo(5));
    await setImmediate();
    expect(begun).toEqual(upTo(6));
  });

  it('has nobody begin in turns that bring somebody new, and yet every so often', async () => {
    join(0, 3 * PER_TURN);
    line.accepted();
    await setImmediate();
    expect(begun).toEqual(upTo(PER_TURN));
    await setImmediate();
    expect(begun).toEqual(upTo(2 * PER_TURN));
    for (let turn = 0; turn < 16; turn++) {
      line.accepted();
      await setImmediate();
    }
    expect(begun).toEqual(upTo(2 * PER_TURN));
    line.accepted();
    await setImmediate();
    expect(begun).toEqual(upTo(3 * PER_TURN));
  });

  it('lets whoever finds no line begin at once, also in a turn that brings somebody new', () => {
    line.accepted();
    join(0, 1);
    expect(begun).toEqual(upTo(1));
  });

  it('begins as it is released, whoever was accepted meanwhile', () => {
    line.hold();
    join(0, 1);
    line.accepted();
    line.release();
    expect(begun).toEqual(upTo(1));
  });

  it('has room again in the turn after the last', async () => {
    join(0, PER_TURN);
    await setImmediate();
    join(PER_TURN, PER_TURN + 1);
    expect(begun).toEqual(upTo(PER_TURN + 1));
  });

  it('has nobody begin while it is held, and then all in their order', async () => {
    line.hold();
    join(0, PER_TURN + 1);
    await setImmediate();
    expect(begun).toEqual([]);
    line.release();
    const half = PER_TURN / 2 + 1;
    expect(begun).toEqual(upTo(half));
    join(PER_TURN + 1, 2 * half);
    await setImmediate();
    expect(begun).toEqual(upTo(2 * half));
  });

  it('has nobody who waits already begin while it is held', async () => {
    join(0, PER_TURN + 1);
    line.hold();
    await setImmediate();
    expect(begun).toEqual(upTo(PER_TURN));
    line.release();
    expect(begun).toEqual(upTo(PER_TURN + 1));
  });

  it('has no more begin in a turn for being held and released in it', async () => {
    join(0, PER_TURN);
    line.hold();
    join(PER_TURN, PER_TURN + 1);
    line.release();
    expect(begun).toEqual(upTo(PER_TURN));
    await setImmediate();
    expect(begun).toEqual(upTo(PER_TURN + 1));
  });

  it('has nobody overtake who waits since it was held and released in the same turn', async () => {
    join(0, 1);
    line.hold();
    join(1, 2);
    line.release();
    join(2, 3);
    await setImmediate();
    expect(begun).toEqual(upTo(3));
  });

  it.each([
    { together: PER_TURN - 1, isLong: false },
    { together: PER_TURN, isLong: true },
  ])('tells $together of their wait: $isLong', async ({ together, isLong }) => {
    const waits: number[] = [];
    join(0, PER_TURN);
    for (let one = 0; one < together; one++) line.join((waitedMs) => waits.push(waitedMs));
    await setImmediate();
    expect(waits).toHaveLength(together);
    expect(waits.some((waitedMs) => waitedMs > 0)).toBe(isLong);
  });

  it('tells once how long whoever waited longest had to', async () => {
    join(0, 1);
    expect(line.takeLongestMs()).toBe(0);
    join(1, PER_TURN + 1);
    const sinceMs = performance.now();
    while (performance.now() < sinceMs + 5);
    await setImmediate();
    expect(line.takeLongestMs()).toBeGreaterThanOrEqual(5);
    expect(line.takeLongestMs()).toBe(0);
  });

  describe('where it is long', () => {
    const LONG = 5 * PER_TURN;

    class Connection {
      destroyed = false;
      isRead = true;
      pause = (): unknown => (this.isRead = false);
      resume = (): unknown => (this.isRead = true);
    }
    const rest = (count: number): Connection[] => {
      const connections = Array.from({ length: count }, () => new Connection());
      for (const connection of connections) line.rest(connection);
      return connections;
    };
    const read = (connections: Connection[]) => connections.filter(({ isRead }) => isRead).length;

    it('has connections rest, and read in their order as it gets shorter', async () => {
      join(0, PER_TURN + LONG);
      const resting = rest(10 * PER_TURN);
      expect(read(resting)).toBe(0);
      // Some in any case, and as many as leave the two turns that come with work for all of them.
      for (const expected of [32, 64, 96, 160]) {
        await setImmediate();
        expect(resting.map(({ isRead }) => isRead).lastIndexOf(true) + 1).toBe(expected);
        expect(read(resting)).toBe(expected);
      }
      join(0, PER_TURN);
      await setImmediate();
      expect(read(resting)).toBe(160 + PER_TURN);
    });

    it('has none rest where it is short, with those that rest already, or has no work for the next turn', async () => {
      join(0, PER_TURN + LONG - 2);
      expect(read(rest(1))).toBe(1);
      join(0, 1);
      expect(read(rest(1))).toBe(1);
      join(0, 1);
      const resting = rest(2 * LONG);
      expect(read(resting)).toBe(0);
      for (let turn = 0; turn < 4; turn++) await setImmediate();
      expect(read(rest(1))).toBe(0);
      await setImmediate();
      expect(read(rest(1))).toBe(1);
    });

    it('has all be read once nobody waits', async () => {
      join(0, PER_TURN + LONG);
      const resting = rest(100 * PER_TURN);
      for (let turn = 0; turn < 6; turn++) await setImmediate();
      expect(begun).toHaveLength(PER_TURN + LONG);
      expect(read(resting)).toBe(resting.length);
    });

    it('has all be read where they have to be', () => {
      join(0, PER_TURN + LONG);
      const resting = rest(3);
      line.readAll(true);
      expect(read(resting)).toBe(3);
      expect(read(rest(3))).toBe(3);
    });

    it('has all be read from when it is held, so that they are in line', async () => {
      join(0, PER_TURN + LONG);
      const resting = rest(3 * PER_TURN);
      line.hold();
      await setImmediate();
      expect(begun).toEqual(upTo(PER_TURN));
      expect(read(resting)).toBe(3 * PER_TURN);
      expect(read(rest(3))).toBe(3);
      line.release();
      join(PER_TURN + LONG, 2 * LONG + PER_TURN);
      expect(read(rest(3))).toBe(3);
      // Refusals that end meanwhile change nothing of that.
      line.readAll(true);
      line.readAll(false);
      expect(read(rest(3))).toBe(3);
    });

    it('has connections rest again when not all have to be read', () => {
      join(0, PER_TURN + LONG);
      line.readAll(true);
      line.readAll(false);
      expect(read(rest(3))).toBe(0);
    });

    it('leaves alone who has hung up', () => {
      join(0, PER_TURN + LONG);
      const [gone, here] = rest(2) as [Connection, Connection];
      gone.destroyed = true;
      line.readAll(true);
      expect([gone.isRead, here.isRead]).toEqual([false, true]);
    });

    it('tells how long whoever rested longest had to, whoever waited', () => {
      join(0, PER_TURN + LONG);
      rest(1);
      const sinceMs = performance.now();
      while (performance.now() < sinceMs + 5);
      line.readAll(true);
      expect(line.takeLongestMs()).toBeGreaterThanOrEqual(5);
    });
  });
});
