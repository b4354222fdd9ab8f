import { Shedding } from './shedding.js';

const SAMPLE_MS = 50;

describe(Shedding.name, () => {
  let nowMs: number;
  let shedding: Shedding;
  beforeEach(() => {
    nowMs = 0;
    shedding = new Shedding(250);
  });
  /** Samples of a loop that is so late each time. */
  const run = (lateMs: number, times = 1, utilization = 1): void => {
    for (let sample = 0; sample < times; sample++) {
      nowMs += SAMPLE_MS + lateMs;
      shedding.take(lateMs, utilization, nowMs);
    }
  };

  it('sheds nothing for one pause, however long', () => {
    for (const pauseMs of [300, 5_000, 3_600_000]) {
      run(pauseMs);
      run(0, 3);
    }
    expect(shedding.share).toBe(0);
  });

  it('sheds nothing for pauses with breath between them', () => {
    for (let pause = 0; pause < 100; pause++) {
      run(400);
      run(10);
    }
    expect(shedding.share).toBe(0);
  });

  it('sheds nothing while the loop is late, but not too late', () => {
    run(250, 100);
    expect(shedding.share).toBe(0);
  });

  it('sheds nothing where a busy neighbour makes an idle loop late', () => {
    run(400, 100, 0.3);
    expect(shedding.share).toBe(0);
    run(400, 30);
    run(400, 60, 0.3);
    expect(shedding.share).toBe(0);
  });

  it('begins after a second of nothing but late samples', () => {
    run(251, 4);
    expect(shedding.share).toBe(0);
    run(251);
    expect(shedding.share).toBe(0.5);
  });

  it('sheds more while the loop stays late, and never everything', () => {
    run(300, 6);
    const before = shedding.share;
    run(30);
    expect(shedding.share).toBeGreaterThan(before);
    run(1_000, 100);
    expect(shedding.share).toBeLessThan(1);
  });

  it('lets everybody in again within seconds, and then waits for another late second', () => {
    run(1_000, 30);
    run(0, 49);
    expect(shedding.share).toBe(0);
    run(300);
    expect(shedding.share).toBe(0);
  });

  it('settles where what is let in can be done in time', () => {
    // Five times what can be done: each sample is as late as what was let in is too much.
    run(400, 6);
    const shares: number[] = [];
    for (let sample = 0; sample < 600; sample++) {
      const load = 5 * (1 - shedding.share);
      run(load > 1 ? 40 : 0);
      shares.push(shedding.share);
    }
    const settled = shares.slice(200);
    const done = settled.map((share) => Math.min(1, 5 * (1 - share)));
    expect(done.reduce((sum, each) => sum + each) / done.length).toBeGreaterThan(0.8);
    expect(Math.min(...settled)).toBeGreaterThan(0.7);
  });
});
