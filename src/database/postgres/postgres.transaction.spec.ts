import type { Pool } from 'pg';
import { TransactionAbortedError } from '../transactions.js';
import { PostgresStatements } from './postgres.statements.js';
import { transact } from './postgres.transaction.js';

describe(transact.name, () => {
  const release = jest.fn();
  const query = jest.fn<Promise<{ command: string; rows: [] }>, [string]>();
  const pool = { connect: () => Promise.resolve({ query, release }) } as unknown as Pool;
  const answerWith = (toCommit: string) =>
    query.mockImplementation((text) =>
      Promise.resolve({ command: text === 'COMMIT' ? toCommit : text, rows: [] }),
    );
  const transacted = () => transact(pool, new PostgresStatements(), () => Promise.resolve('done'));
  beforeEach(() => jest.resetAllMocks());

  it('resolves once the work is committed', async () => {
    answerWith('COMMIT');
    expect(await transacted()).toBe('done');
    expect(query.mock.calls.flat()).toEqual(['BEGIN', 'COMMIT']);
  });

  it('rejects where PostgreSQL answers the commit by rolling back, and keeps the connection', async () => {
    answerWith('ROLLBACK');
    await expect(transacted()).rejects.toThrow(TransactionAbortedError);
    expect(release.mock.calls).toEqual([[undefined]]);
  });
});
