import { Pulse } from './pulse.js';

const BEAT_MS = 1_000;

describe(Pulse.name, () => {
  const ask = jest.fn();
  const giveUp = jest.fn();
  let pulse: Pulse<string>;
  beforeEach(() => {
    jest.resetAllMocks();
    jest.useFakeTimers();
    pulse = new Pulse(ask, giveUp);
    pulse.watch('one');
  });
  afterEach(() => {
    pulse.stop();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });
  const beat = (times = 1) => jest.advanceTimersByTime(times * BEAT_MS);

  it('gives up, once, who has said nothing for five beats', () => {
    beat(5);
    expect(giveUp).not.toHaveBeenCalled();
    beat(10);
    expect(giveUp.mock.calls).toEqual([['one']]);
  });

  it('gives up nobody who says something now and then', () => {
    pulse.watch('silent');
    for (let round = 0; round < 10; round++) {
      beat(4);
      pulse.heard('one');
    }
    expect(giveUp.mock.calls).toEqual([['silent']]);
    expect(ask).toHaveBeenCalledWith('one');
  });

  it('counts no time in which this process itself stood still', () => {
    let standstillMs = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + standstillMs);
    for (let round = 0; round < 20; round++) {
      standstillMs += 60_000;
      beat();
    }
    expect(giveUp).not.toHaveBeenCalled();
    beat(6);
    expect(giveUp).toHaveBeenCalledTimes(1);
  });

  it('gives up nobody who is forgotten', () => {
    pulse.forget('one');
    pulse.heard('one');
    beat(10);
    expect(ask).not.toHaveBeenCalled();
    expect(giveUp).not.toHaveBeenCalled();
  });
});
