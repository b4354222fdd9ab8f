import { NO_FAULTS } from '../../../test/support/no-faults.js';
import { BackgroundTasks } from '../database/background-tasks.js';
import type { Database } from '../database/database.js';
import type { Logger } from '../telemetry/logger.js';
import { LastUses } from './last-uses.js';

const address = '192.0.2.1';

describe(LastUses.name, () => {
  const saved: unknown[] = [];
  let whileSaving: () => void;
  const database = {
    write: (_statement: unknown, rows: string) => {
      saved.push(...(JSON.parse(rows) as unknown[]));
      whileSaving();
      return Promise.resolve([]);
    },
  };
  let uses: LastUses;
  beforeEach(() => {
    saved.length = 0;
    whileSaving = () => undefined;
    const background = new BackgroundTasks({} as Logger, NO_FAULTS);
    uses = new LastUses(database as unknown as Database, background);
  });

  it('saves the latest use of each key, once', async () => {
    for (const atMs of [1, 2]) uses.record('key_zoo', { atMs, address });
    uses.record('key_ark', { atMs: 3, address });
    await uses.flush();
    await uses.flush();
    expect(saved).toEqual([
      ['key_zoo', 2, address],
      ['key_ark', 3, address],
    ]);
  });

  it('saves a use during a flush with the next one', async () => {
    uses.record('key_zoo', { atMs: 1, address });
    whileSaving = () => {
      whileSaving = () => undefined;
      uses.record('key_zoo', { atMs: 2, address });
    };
    await uses.flush();
    await uses.flush();
    expect(saved).toEqual([
      ['key_zoo', 1, address],
      ['key_zoo', 2, address],
    ]);
  });
});
