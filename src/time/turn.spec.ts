import { setImmediate } from 'node:timers/promises';
import { Turn, WaitingLine } from './turn.js';

describe(Turn.name, () => {
  it('hands on what came up in one turn together, in its order', async () => {
    const concluded: number[][] = [];
    const turn = new Turn<number>((items) => concluded.push(items));
    turn.add(1);
    turn.add(2);
    expect(concluded).toEqual([]);
    await setImmediate();
    expect(concluded).toEqual([[1, 2]]);
  });

  it('leaves what comes up while it concludes to the next turn', async () => {
    const concluded: number[][] = [];
    const turn: Turn<number> = new Turn((items) => {
      concluded.push(items);
      if (concluded.length === 1) turn.add(2);
    });
    turn.add(1);
    await setImmediate();
    expect(concluded).toEqual([[1]]);
    await setImmediate();
    expect(concluded).toEqual([[1], [2]]);
  });

  it('hands on no more in one turn than it is told, first come, first served', async () => {
    const concluded: number[][] = [];
    const turn = new Turn<number>((items) => concluded.push(items), 2);
    for (const item of [1, 2, 3]) turn.add(item);
    await setImmediate();
    expect(concluded).toEqual([[1, 2]]);
    turn.add(4);
    turn.add(5);
    await setImmediate();
    await setImmediate();
    expect(concluded).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('concludes nothing where nothing came up', async () => {
    const conclude = jest.fn();
    new Turn(conclude);
    await setImmediate();
    expect(conclude).not.toHaveBeenCalled();
  });
});

describe(WaitingLine.name, () => {
  const PER_TURN = 64;
  let line: WaitingLine;
  let begun: number[];
  const join = (from: number, to: number): void => {
    for (let one = from; one < to; one++) line.join(() => begun.push(one));
  };
  const upTo = (end: number): number[] => Array.from({ length: end }, (_none, index) => index);
  beforeEach(() => {
    line = new WaitingLine();
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

  it('has room again in the turn after the last', async () => {
    join(0, PER_TURN);
    await setImmediate();
    join(PER_TURN, PER_TURN + 1);
    expect(begun).toEqual(upTo(PER_TURN + 1));
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
});
