import { eachInOrder } from './in-order.js';

async function partsOf(names: readonly string[]): Promise<string[][]> {
  const parts: string[][] = [];
  await eachInOrder(
    Uint32Array.from(names.keys()),
    (row) => names[row]!,
    (part, told) => {
      expect(told).toEqual(part.map((row) => names[row]));
      return Promise.resolve(void parts.push(told));
    },
  );
  return parts;
}

describe(eachInOrder.name, () => {
  it.each([
    ['none', 0],
    ['one', 1],
    ['some', 499],
    ['many', 100_000],
  ])('puts %s in order, each once, in parts of some hundreds', async (_name, count) => {
    const names = Array.from({ length: count }, (_none, index) => `key_${(index * 7_919) % count}`);
    const parts = await partsOf(names);
    expect(parts.flat()).toEqual(names.toSorted());
    for (const { length } of parts) expect(length).toBeGreaterThan(0);
    expect(Math.max(0, ...parts.map(({ length }) => length))).toBeLessThan(1_500);
    expect(parts.length).toBeLessThanOrEqual(Math.ceil(count / 500));
  });

  it('keeps those of one name as they came', async () => {
    const rows = Uint32Array.from({ length: 3_000 }, (_none, at) => at);
    const told: number[] = [];
    await eachInOrder(
      rows,
      (row) => `key_${row % 2}`,
      (part) => Promise.resolve(void told.push(...part)),
    );
    const [even, odd] = [0, 1].map((rest) => rows.filter((row) => row % 2 === rest));
    expect(told).toEqual([...even!, ...odd!]);
  });

  it('lets others have their turn meanwhile', async () => {
    let turns = 0;
    let isOver = false;
    const takeTurns = (): void => {
      turns++;
      if (!isOver) setImmediate(takeTurns);
    };
    setImmediate(takeTurns);
    const names = Array.from({ length: 50_000 }, (_none, index) => `key_${index}`);
    expect((await partsOf(names)).flat()).toHaveLength(50_000);
    isOver = true;
    expect(turns).toBeGreaterThan(5);
  });
});
