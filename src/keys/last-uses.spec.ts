import { passBy } from '../../test/support/pass-by.js';
import type { Engine } from '../database/engine.js';
import type { Step, Work } from '../database/statement.js';
import { SharedNames } from '../rate-limits/names.js';
import type { Logger } from '../telemetry/logger.js';
import { LastUses } from './last-uses.js';

describe(LastUses.name, () => {
  let lastUses: LastUses;
  let names: SharedNames;
  let written: Step[];
  const logger = { debug: jest.fn() };
  const write = jest.fn();

  beforeEach(() => {
    written = [];
    logger.debug.mockReset();
    write.mockReset().mockImplementation((work: () => Work<void>) => {
      const unit = work();
      for (let step = unit.next(); !step.done; step = unit.next([])) written.push(step.value);
      return Promise.resolve();
    });
    names = new SharedNames();
    lastUses = new LastUses({ write } as unknown as Engine, logger as unknown as Logger, names);
  });
  afterEach(() => lastUses.beforeApplicationShutdown());

  const saved = () =>
    written
      .filter(({ statement }) => statement.name === 'keys.used')
      .map(({ parameters }) => JSON.parse(String(parameters[0])) as Record<string, number>);

  it('writes the last use of each key down once, many together', async () => {
    lastUses.record('key_zoo', 1_000);
    lastUses.record('key_ark', 1_000);
    lastUses.record('key_zoo', 2_000);
    await lastUses.beforeApplicationShutdown();
    expect(saved()).toEqual([{ key_ark: 1_000, key_zoo: 2_000 }]);
    await lastUses.beforeApplicationShutdown();
    expect(saved()).toHaveLength(1);
  });

  it('writes down a bounded number at once, in the order of their rows', async () => {
    const ids = Array.from({ length: 5_000 }, (_none, count) => `key_${count}`);
    for (const id of ids) lastUses.record(id, 1_000);
    await lastUses.beforeApplicationShutdown();
    const batches = saved().map((uses) => Object.keys(uses));
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThan(2_000);
    expect(batches.flat()).toEqual(ids.sort());
  });

  it('keeps the names of those that wait, whoever passes by before or meanwhile', async () => {
    const ids = Array.from({ length: 3_000 }, (_none, count) => `key_${count}`);
    for (const id of ids) lastUses.record(id, 1_000);
    await passBy(names);
    write.mockImplementationOnce(async () => {
      await passBy(names);
      throw new Error('disk full');
    });
    await lastUses.beforeApplicationShutdown();
    await passBy(names);
    lastUses.record('key_7', 2_000);
    await lastUses.beforeApplicationShutdown();
    const told = Object.assign({}, ...saved()) as Record<string, number>;
    expect(told['key_7']).toBe(2_000);
    expect(Object.keys(told).every((id) => ids.includes(id))).toBe(true);
    // The part that was being written is lost.
    expect(Object.keys(told).length).toBeGreaterThan(1_500);
  });

  it('writes them down every few seconds: they may lag 10', async () => {
    jest.useFakeTimers();
    try {
      lastUses.onModuleInit();
      lastUses.record('key_zoo', 1_000);
      await jest.advanceTimersByTimeAsync(9_000);
      expect(saved()).toEqual([{ key_zoo: 1_000 }]);
      await lastUses.beforeApplicationShutdown();
    } finally {
      jest.useRealTimers();
    }
  });

  it('fails nobody for one that cannot be saved, and writes the next one down', async () => {
    lastUses.record('key_zoo', 1_000);
    write.mockRejectedValueOnce(new Error('disk full'));
    await lastUses.beforeApplicationShutdown();
    expect(logger.debug).toHaveBeenCalledTimes(1);
    lastUses.record('key_zoo', 2_000);
    await lastUses.beforeApplicationShutdown();
    expect(saved()).toEqual([{ key_zoo: 2_000 }]);
  });
});
