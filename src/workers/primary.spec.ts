import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import type { Logger } from '../telemetry/logger.js';
import { Primary } from './primary.js';

describe(Primary.name, () => {
  it('is done within the grace period, though neither a worker nor the database takes leave', async () => {
    const logger = { info: jest.fn(), flush: jest.fn() } as unknown as Logger;
    const primary = new Primary({ shutdownGraceSeconds: 1 } as Config, logger, 1);
    const kill = jest.fn();
    const stuck = Object.assign(new EventEmitter(), { process: { kill } }) as unknown as Worker;
    Object.assign(primary, {
      workers: new Set([stuck]),
      app: { close: () => new Promise(() => undefined) },
    });
    const graceIsOver = pause(1_000, 'too late', { ref: false });
    expect(await Promise.race([primary.stop(), graceIsOver])).toBeUndefined();
    expect(kill.mock.calls).toEqual([['SIGTERM'], ['SIGKILL']]);
  });
});
