import { Shedding } from './shedding.js';

const SAMPLE_MS = 50;
const WORK_MS = 0.1;
const REFUSAL_MS = 0.08;
const BEGUN_PER_TURN = 64;

describe(Shedding.name, () => {
  let nowMs: number;
  let shedding: Shedding;
  beforeEach(() => {
    nowMs = 0;
    shedding = new Shedding(250);
  });
  /** Samples of a loop that is so late each time, and answers one request in each. */
  const run = (lateMs: number, times = 1, utilization = 1): void => {
    for (let sample = 0; sample < times; sample++) {
      nowMs += SAMPLE_MS + lateMs;
      shedding.turn(nowMs);
      shedding.refuses(0);
      shedding.take(lateMs, utilization, nowMs);
    }
  };

  it('sheds nothing for one pause, however long', () => {
    for (const pauseMs of [300, 5_000, 3_600_000]) {
      run(pauseMs);
      run(0, 3);
    }
    expect(shedding.isOn).toBe(false);
  });

  it('sheds nothing for pauses with breath between them', () => {
    for (let pause = 0; pause < 100; pause++) {
      run(400);
      run(10);
    }
    expect(shedding.isOn).toBe(false);
  });

  it('sheds nothing while the loop is late, but not too late', () => {
    run(250, 100);
    expect(shedding.isOn).toBe(false);
  });

  it('sheds nothing where a busy neighbour makes an idle loop late', () => {
    run(400, 100, 0.3);
    expect(shedding.isOn).toBe(false);
  });

  it('begins after a second of nothing but late samples', () => {
    run(251, 4);
    expect(shedding.isOn).toBe(false);
    run(251);
    expect(shedding.isOn).toBe(true);
  });

  it('lets some in where each takes longer than a turn should, and refuses most', () => {
    run(400, 6);
    let refused = 0;
    for (let turn = 0; turn < 1_000; turn++) {
      shedding.turn((nowMs += 1));
      if (shedding.refuses(0)) refused++;
    }
    expect(refused).toBeGreaterThan(700);
    expect(refused).toBeLessThan(1_000);
  });

  it('refuses whoever has waited, and lets in who comes then', () => {
    run(300, 6);
    nowMs += SAMPLE_MS;
    shedding.turn(nowMs);
    // So many are done that there is room for hundreds in a turn.
    for (let sample = 0; sample < 30; sample++) {
      for (let one = 0; one < 1_000; one++) shedding.refuses(0);
      nowMs += SAMPLE_MS;
      shedding.take(300, 1, nowMs);
      shedding.turn(nowMs);
    }
    expect(shedding.isOn).toBe(true);
    expect([shedding.refuses(30), shedding.refuses(0)]).toEqual([true, false]);
  });

  it('refuses for no more than a fifth of the time', () => {
    run(400, 6);
    let refused = 0;
    for (let turn = 0; turn < 1_000; turn++) {
      shedding.turn((nowMs += 10));
      for (let one = 0; one < 1_000; one++) if (shedding.refuses(1_000)) refused++;
    }
    expect(refused * REFUSAL_MS).toBeGreaterThan(0.15 * 10_000);
    expect(refused * REFUSAL_MS).toBeLessThan(0.25 * 10_000);
  });

  it('is over when nobody had to be refused for seconds, and then waits for another late second', () => {
    run(400, 6);
    expect(shedding.isOn).toBe(true);
    run(0, 400, 0.1);
    expect(shedding.isOn).toBe(false);
    run(300);
    expect(shedding.isOn).toBe(false);
  });

  /** Samples of 50 ms in which that share of the time is used, and one request comes in every 20th: who is refused. */
  const calm = (utilization: number, times: number): number[] => {
    const refusedAt: number[] = [];
    for (let sample = 0; sample < times; sample++) {
      nowMs += SAMPLE_MS;
      if (sample % 20 === 0) {
        if (shedding.refuses(0)) refusedAt.push(sample);
        shedding.turn(nowMs);
      }
      shedding.take(0, utilization, nowMs);
    }
    return refusedAt;
  };

  it('refuses nobody any more once the loop is idle, however rarely one comes', () => {
    run(600, 12);
    expect(shedding.isOn).toBe(true);
    const refusedAt = calm(0.02, 400);
    expect(refusedAt.filter((sample) => sample > 0)).toEqual([]);
    expect(shedding.isOn).toBe(false);
  });

  it('refuses nobody who comes with many others, once the loop is idle', () => {
    run(600, 12);
    calm(0.05, 45);
    const refused: boolean[] = [];
    for (let second = 0; second < 20; second++) {
      for (let one = 0; one < 300; one++) refused.push(shedding.refuses(30));
      shedding.turn(nowMs);
      calm(0.05, 20);
    }
    expect(refused).not.toContain(true);
    expect(shedding.isOn).toBe(false);
  });

  it.each([0.6, 0.9])('refuses nobody after 2.5 calm seconds of a loop used by %p', (used) => {
    run(600, 12);
    const refusedAt = calm(used, 400);
    expect(refusedAt.filter((sample) => sample * SAMPLE_MS >= 2_500)).toEqual([]);
  });

  it('lets in whatever comes at once after that, and is pressed again by it', () => {
    run(600, 12);
    calm(0.6, 45);
    const many = () => Array.from({ length: 1_000 }, () => shedding.refuses(0));
    expect(many()).not.toContain(true);
    nowMs += SAMPLE_MS + 300;
    shedding.turn(nowMs);
    shedding.take(300, 1, nowMs);
    expect(many()).toContain(true);
  });

  interface Rush {
    /** Of the requests that can be done. */
    times: number;
    callers: number;
    /** How long who is refused stays away. */
    waitsMs: number;
  }

  /** A loop that begins so many in a turn, of those in line: which share of its time it did what was asked. */
  function goodputOf({ times, callers, waitsMs }: Rush): { share: number; longestWaitMs: number } {
    const perMs = times / WORK_MS / callers;
    const away: { count: number; untilMs: number }[] = [];
    const line: number[] = [];
    let [home, work, turnMs, sampledAtMs, longestWaitMs, busyMs] = [callers, 0, 1, 0, 0, 0];
    let [due, lateMs] = [0, 0];
    while (nowMs < 30_000) {
      while (away.length > 0 && away[0]!.untilMs <= nowMs) home += away.shift()!.count;
      due += home * perMs * turnMs;
      const come = Math.min(Math.floor(due), home);
      due -= come;
      home -= come;
      for (let one = 0; one < come; one++) line.push(nowMs);
      let [admitted, refused] = [0, 0];
      for (const sinceMs of line.splice(0, BEGUN_PER_TURN)) {
        const waitedMs = nowMs - sinceMs;
        lateMs = Math.max(lateMs, waitedMs);
        if (nowMs > 10_000) longestWaitMs = Math.max(longestWaitMs, waitedMs);
        if (shedding.refuses(waitedMs)) refused++;
        else admitted++;
      }
      home += admitted;
      if (waitsMs > 0 && refused > 0) away.push({ count: refused, untilMs: nowMs + waitsMs });
      else home += refused;
      const neededMs = admitted * WORK_MS + refused * REFUSAL_MS;
      busyMs += neededMs;
      turnMs = Math.max(neededMs, 0.2);
      nowMs += turnMs;
      if (nowMs > 10_000) work += admitted * WORK_MS;
      if (nowMs - sampledAtMs >= SAMPLE_MS) {
        shedding.take(lateMs, busyMs / (nowMs - sampledAtMs), nowMs);
        sampledAtMs = nowMs;
        lateMs = busyMs = 0;
      }
      shedding.turn(nowMs);
    }
    return { share: work / 20_000, longestWaitMs };
  }

  it('has four fifths of what can be done done at five times as much, and refuses within 50 ms', () => {
    const { share, longestWaitMs } = goodputOf({ times: 5, callers: 4_000, waitsMs: 2_000 });
    expect(share).toBeGreaterThan(0.8);
    expect(longestWaitMs).toBeLessThan(50);
  });

  it('goes on with the work where thousands come back at once', () => {
    const { share } = goodputOf({ times: 100, callers: 8_000, waitsMs: 0 });
    expect(share).toBeGreaterThan(0.75);
  });
});
