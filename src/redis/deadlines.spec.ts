import { Deadlines } from './deadlines.js';

describe(Deadlines.name, () => {
  const expired = jest.fn();
  let deadlines: Deadlines;
  beforeEach(() => {
    jest.useFakeTimers();
    expired.mockReset();
    deadlines = new Deadlines(100, expired);
  });
  afterEach(() => jest.useRealTimers());

  const never = (): Promise<string> => new Promise(() => undefined);

  it('passes on a reply, and an error, as they come', async () => {
    expect(await deadlines.bound(Promise.resolve('yes'))).toBe('yes');
    await expect(deadlines.bound(Promise.reject(new Error('no')))).rejects.toThrow('no');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(expired).not.toHaveBeenCalled();
  });

  it('gives up each wait at its own time, however many there are', async () => {
    const given: string[] = [];
    const wait = (name: string) => deadlines.bound(never()).catch(() => given.push(name));
    void wait('first');
    await jest.advanceTimersByTimeAsync(60);
    void wait('second');
    void deadlines.bound(Promise.resolve('quick'));
    await jest.advanceTimersByTimeAsync(45);
    expect(given).toEqual(['first']);
    void wait('third');
    await jest.advanceTimersByTimeAsync(60);
    expect(given).toEqual(['first', 'second']);
    await jest.advanceTimersByTimeAsync(50);
    expect(given).toEqual(['first', 'second', 'third']);
    expect(expired).toHaveBeenCalledTimes(3);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('prefers a reply that waits to be read to the time that is over', async () => {
    let reply: (value: string) => void = () => undefined;
    const bound = deadlines.bound(new Promise<string>((resolve) => (reply = resolve)));
    jest.advanceTimersToNextTimer(2);
    reply('late, but here');
    await jest.advanceTimersByTimeAsync(1);
    expect(await bound).toBe('late, but here');
    expect(expired).not.toHaveBeenCalled();
  });

  it('gives up nothing whose time came while this process read what had arrived before', async () => {
    void deadlines.bound(Promise.resolve('long ago'));
    await jest.advanceTimersByTimeAsync(95);
    let reply: (value: string) => void = () => undefined;
    const bound = deadlines.bound(new Promise<string>((resolve) => (reply = resolve)));
    await jest.advanceTimersByTimeAsync(1);
    // It looks, and until the turn is over others are read for long.
    jest.advanceTimersToNextTimer();
    const busy = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 300);
    jest.advanceTimersToNextTimer();
    busy.mockRestore();
    reply('in time');
    expect(await bound).toBe('in time');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(expired).not.toHaveBeenCalled();
  });
});
