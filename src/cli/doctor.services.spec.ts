import { loadConfig } from '../config/config.js';
import { sqliteFacts } from '../database/sqlite/sqlite.facts.js';
import { examineDatabase } from './doctor.services.js';

jest.mock('../database/sqlite/sqlite.facts.js', () => ({ sqliteFacts: jest.fn() }));

describe(examineDatabase.name, () => {
  it('takes no package that was built for another Node.js for a broken database', async () => {
    const message = 'The module was compiled against a different Node.js version';
    jest.mocked(sqliteFacts).mockImplementation(() => {
      throw Object.assign(new Error(message), { code: 'ERR_DLOPEN_FAILED' });
    });
    // A file that is there.
    const config = loadConfig({ DATABASE_URL: 'sqlite:package.json' });
    expect(await examineDatabase(config, [])).toEqual([
      {
        ...{ check: 'database', status: 'failed', detail: `it cannot be used: ${message}` },
        cure: expect.stringMatching(/^npm rebuild better-sqlite3/),
      },
    ]);
  });
});
