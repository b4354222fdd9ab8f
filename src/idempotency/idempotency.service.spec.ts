import type { DataSource } from 'typeorm';
import type { Engine } from '../database/engine.js';
import type { Work } from '../database/statement.js';
import type { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { IdempotencyService } from './idempotency.service.js';

const NOON = Date.parse('2026-06-15T12:00:00Z');

describe(IdempotencyService.name, () => {
  const write = jest.fn<Promise<unknown>, [() => Work<unknown>]>();
  const warn = jest.fn();
  let service: IdempotencyService;

  beforeEach(() => {
    jest.useFakeTimers();
    write.mockReset().mockResolvedValue([]);
    warn.mockReset();
    service = new IdempotencyService(
      { write } as unknown as Engine,
      {} as DataSource,
      { now: () => NOON },
      { warn } as unknown as Logger,
      new Metrics(),
    );
    service.onModuleInit();
  });
  afterEach(() => {
    service.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('removes records of more than a day, every ten minutes', async () => {
    await jest.advanceTimersByTimeAsync(599_999);
    expect(write).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(write).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(write).toHaveBeenCalledTimes(2);
    expect(warn).not.toHaveBeenCalled();
  });

  it('tries again where they could not be removed', async () => {
    write.mockRejectedValueOnce(new Error('away'));
    await jest.advanceTimersByTimeAsync(600_000);
    expect(warn).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(write).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('removes them in batches, one purge at a time', async () => {
    let left = 3_000;
    write.mockImplementation((work) => {
      const { parameters } = work().next().value as { parameters: number[] };
      const removed = Math.min(left, parameters[0]!);
      left -= removed;
      return new Promise((resolve) => setTimeout(() => resolve(Array(removed)), 700_000));
    });
    await jest.advanceTimersByTimeAsync(1_200_000);
    expect(write).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(30_000_000);
    expect(left).toBe(0);
  });

  it('stops with the application', async () => {
    service.onApplicationShutdown();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(write).not.toHaveBeenCalled();
  });
});
