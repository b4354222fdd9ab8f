import { Poller } from './poller.js';

describe(Poller.name, () => {
  const logger = {
    fatal: jest.fn(),
    error: jest.fn(),
    warn: jest.fn(),
    info: jest.fn(),
    debug: jest.fn(),
    flush: jest.fn(),
    request: jest.fn(),
  };
  let poller: Poller;
  beforeEach(() => {
    jest.useFakeTimers();
    jest.clearAllMocks();
    poller = new Poller(logger);
  });
  afterEach(() => {
    poller.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('looks three times a second: a change is in force well within one', async () => {
    const look = jest.fn(() => Promise.resolve());
    poller.watch(look);
    poller.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(950);
    expect(look).toHaveBeenCalledTimes(3);
  });

  it('says once that the database cannot be read, for how long, and that it can again', async () => {
    let away = true;
    poller.watch(() => (away ? Promise.reject(new Error('gone')) : Promise.resolve()));
    poller.onApplicationBootstrap();
    expect(poller.blindForMs).toBe(0);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(logger.error).toHaveBeenCalledTimes(1);
    expect(poller.blindForMs).toBeGreaterThanOrEqual(2_500);
    away = false;
    await jest.advanceTimersByTimeAsync(300);
    expect(poller.blindForMs).toBe(0);
    expect(logger.info).toHaveBeenCalledTimes(1);
  });

  it('does not look before the last look is over, nor after the end', async () => {
    const look = jest.fn(() => new Promise<void>(() => undefined));
    poller.watch(look);
    poller.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(look).toHaveBeenCalledTimes(1);
    poller.onApplicationShutdown();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(look).toHaveBeenCalledTimes(1);
  });

  it('does nothing where there is nothing to look at', () => {
    poller.onApplicationBootstrap();
    expect(jest.getTimerCount()).toBe(0);
  });
});
