import { setImmediate } from 'node:timers/promises';
import { Turn } from './turn.js';

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
