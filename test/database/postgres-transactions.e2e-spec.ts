import { DataSource, type EntityManager } from 'typeorm';
import { afterCommit } from '../../src/database/after-commit.js';
import { inSharedTransaction } from '../../src/database/shared-transaction.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import type { PostgresServer } from '../support/postgres.js';
import { serviceOnPostgres } from '../support/service-on-postgres.js';

type Work = (manager: EntityManager) => Promise<void>;

describeWith('postgres', 'A transaction on PostgreSQL in which a statement fails', (initdb) => {
  const keep = closedAtEnd();
  let server: PostgresServer;
  let url: string;
  let dataSource: DataSource;
  beforeAll(async () => {
    const started = await serviceOnPostgres(keep, initdb);
    ({ server, url } = started);
    dataSource = started.service.store.app.get(DataSource);
    await dataSource.query('CREATE TABLE notes (text text)');
  }, 60_000);
  beforeEach(() => server.query('TRUNCATE notes', url));

  const write = (manager: EntityManager, text: string): Promise<unknown> =>
    manager.query(`INSERT INTO notes VALUES ('${text}')`);
  const fail = (manager: EntityManager): Promise<unknown> =>
    manager.query('an error of syntax').catch(() => undefined);
  const notes = async () =>
    ((await server.query('SELECT text FROM notes', url)) as { text: string }[]).map(
      ({ text }) => text,
    );

  it.each<[string, (work: Work) => Promise<void>]>([
    ['of its own', (work) => dataSource.transaction(work)],
    ['that others join', (work) => inSharedTransaction(dataSource, work)],
    [
      'of a query runner',
      async (work) => {
        const runner = dataSource.createQueryRunner();
        try {
          await runner.startTransaction();
          await work(runner.manager);
          await runner.commitTransaction();
        } finally {
          await runner.release();
        }
      },
    ],
  ])('is never taken for committed: one %s', async (_what, transact) => {
    const told = jest.fn();
    const swallowing = transact(async (manager) => {
      await write(manager, 'lost');
      afterCommit(manager, told);
      await fail(manager);
    });
    await expect(swallowing).rejects.toThrow('rolled back, because a statement in it failed');
    await transact(async (manager) => void (await write(manager, 'next')));
    expect(await notes()).toEqual(['next']);
    expect(told).not.toHaveBeenCalled();
  });

  it('is not committed either where nobody has waited for the statement', async () => {
    const careless = dataSource.transaction(async (manager) => {
      await write(manager, 'lost');
      void fail(manager);
    });
    await expect(careless).rejects.toThrow('has been rolled back');
    expect(await notes()).toEqual([]);
  });

  it('is committed where that was in a transaction within it', async () => {
    const told = jest.fn();
    await dataSource.transaction(async (manager) => {
      await write(manager, 'kept');
      afterCommit(manager, told);
      await manager
        .transaction(async (nested) => {
          await write(nested, 'lost');
          await nested.query('an error of syntax');
        })
        .catch(() => undefined);
    });
    expect(await notes()).toEqual(['kept']);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it('fails as its commit does', async () => {
    await dataSource.query(
      'CREATE TABLE pairs (id integer PRIMARY KEY, other integer REFERENCES pairs DEFERRABLE INITIALLY DEFERRED)',
    );
    const lonely = dataSource.transaction((manager) =>
      manager.query('INSERT INTO pairs VALUES (1, 2)'),
    );
    await expect(lonely).rejects.toMatchObject({
      name: 'QueryFailedError',
      driverError: { code: '23503' },
    });
  });
});
