import { FakeClock } from '../../../test/support/clock.js';
import { NO_FAULTS } from '../../../test/support/no-faults.js';
import { BackgroundTasks } from '../database/background-tasks.js';
import type { Database } from '../database/database.js';
import type { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { IdempotencyService } from './idempotency.service.js';

const NOON = Date.parse('2026-06-15T12:00:00Z');

describe('the purge of expired records', () => {
  const execute = jest.fn<Promise<{ affected: number }>, []>();
  const warn = jest.fn();
  let background: BackgroundTasks;

  beforeEach(() => {
    jest.useFakeTimers();
    execute.mockReset().mockResolvedValue({ affected: 0 });
    warn.mockReset();
    const query = { delete: () => query, where: () => query, execute };
    const records = { metadata: { primaryColumns: [] }, createQueryBuilder: () => query };
    const dataSource = { options: { type: 'better-sqlite3' }, getRepository: () => records };
    background = new BackgroundTasks({ warn, info: jest.fn() } as unknown as Logger, NO_FAULTS);
    new IdempotencyService(
      { dataSource } as unknown as Database,
      new FakeClock(NOON),
      background,
      new Metrics(),
    );
    background.onApplicationBootstrap();
  });
  afterEach(async () => {
    await background.beforeApplicationShutdown();
    jest.useRealTimers();
  });

  it('runs every ten minutes', async () => {
    await jest.advanceTimersByTimeAsync(599_999);
    expect(execute).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(execute).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(execute).toHaveBeenCalledTimes(2);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is retried after a failure', async () => {
    execute.mockRejectedValueOnce(new Error('away'));
    await jest.advanceTimersByTimeAsync(600_000);
    expect(warn).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(execute).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('deletes nothing during and after the shutdown', async () => {
    await background.beforeApplicationShutdown();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(execute).not.toHaveBeenCalled();
  });
});

describe(IdempotencyService.name, () => {
  const request = { clientId: 'zoo', idempotencyKey: 'one', bodyDigest: 'digest' };

  it('returns the stored response where another node was faster, and runs no handler', async () => {
    const record = { bodyDigest: 'digest', response: '{"id":1}' };
    const manager = { transaction: (work: () => Promise<unknown>) => work() };
    const database = {
      dataSource: { manager, share: () => undefined },
      query: jest.fn().mockResolvedValueOnce([]).mockResolvedValueOnce([record]),
      // The statement that claims the key inserts no row: there is one.
      write: () => Promise.resolve([]),
    };
    const service = new IdempotencyService(
      database as unknown as Database,
      new FakeClock(NOON),
      new BackgroundTasks({} as Logger, NO_FAULTS),
      new Metrics(),
    );
    const handle = jest.fn().mockResolvedValue({ id: 2 });
    expect(await service.runOnce(request, handle)).toEqual({ response: { id: 1 }, isReplay: true });
    expect(handle).not.toHaveBeenCalled();
  });
});
