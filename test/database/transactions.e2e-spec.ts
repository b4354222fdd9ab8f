import { setTimeout as pause } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import type { EntityManager, MigrationInterface, QueryRunner } from 'typeorm';
import {
  createDataSource,
  dataSourceOptions,
} from '../../src/core/database/data-source-options.js';
import { inSharedTransaction } from '../../src/core/database/transactions.js';
import { afterCommit, Database, Pet, rowLock, TableGateway } from '../../src/index.js';
import { expectError } from '../support/expectations.js';
import { recordedLog } from '../support/recorded-log.js';
import { onPostgres, startService, type TestServiceOptions } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7 };
const times = <Result>(count: number, make: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => make(index));
const outcomes = (results: PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length;

/** A service with an account whose balance extensions read and then write. */
async function startBank(options: TestServiceOptions = {}) {
  const service = await startService(options);
  const { dataSource } = service.store.app.get(Database);
  await dataSource.query(
    'CREATE TABLE accounts (id integer PRIMARY KEY, balance integer NOT NULL)',
  );
  await dataSource.query('INSERT INTO accounts VALUES (1, 0)');
  const forUpdate = dataSource.options.type === 'postgres' ? ' FOR UPDATE' : '';
  const balance = async (manager: Pick<EntityManager, 'query'> = dataSource): Promise<number> => {
    const [account] = await manager.query('SELECT balance FROM accounts WHERE id = 1');
    return account.balance;
  };
  const deposit = async (manager: EntityManager): Promise<void> => {
    const [{ balance }] = await manager.query(
      `SELECT balance FROM accounts WHERE id = 1${forUpdate}`,
    );
    await pause(1);
    await manager.query(`UPDATE accounts SET balance = ${balance + 1} WHERE id = 1`);
  };
  /** The names of all pets, as another process sees them. */
  const committed = async (): Promise<string[]> => {
    const other = await createDataSource(dataSourceOptions(service.config.databaseUrl));
    await other.initialize();
    const rows = await other.query<{ name: string }[]>('SELECT name FROM pets ORDER BY name');
    await other.destroy();
    return rows.map(({ name }) => name);
  };
  return {
    service,
    committed,
    dataSource,
    pets: dataSource.getRepository(Pet),
    balance,
    deposit,
    [Symbol.asyncDispose]: () => service.close(),
  };
}

/** Labels of pets, which are checked at the commit. */
class CreateLabels1780000000000 implements MigrationInterface {
  readonly name = 'CreateLabels1780000000000';
  async up(runner: QueryRunner): Promise<void> {
    const pet = 'bigint NOT NULL REFERENCES pets (id) DEFERRABLE INITIALLY DEFERRED';
    await runner.query(`CREATE TABLE labels (pet_id ${pet})`);
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE labels');
  }
}

@Module({})
class LabelsModule {}

/**
 * Skipped on PostgreSQL, where these guarantees are not promised: each transaction has a
 * connection, as in TypeORM.
 */
const onSqlite = onPostgres ? it.skip : it;

describe('transactions of an extension', () => {
  it('take no writes of others with them that a callback after their commit begins', async () => {
    await using bank = await startBank({ env: { DATABASE_POOL_SIZE: '2' } });
    const { dataSource, pets } = bank;
    const client = await bank.service.client();
    await dataSource.transaction(async (manager) => {
      await manager.insert(Pet, { name: 'Rex', categoryId: 1n });
      afterCommit(manager, () => manager.transaction(() => pause(50)));
    });
    const creates = await Promise.all(times(4, () => client.post('/v1/pets', rex)));
    expect(creates.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    await Promise.all(times(4, () => pets.save({ name: 'Rex', categoryId: 1n })));
    expect(await bank.committed()).toEqual(times(9, () => 'Rex'));
  });

  it('cannot be ended by their callback', async () => {
    await using bank = await startBank();
    const { dataSource } = bank;
    const refused = 'cannot commit it or roll it back';
    const work = async () => {
      const runner = dataSource.createQueryRunner();
      await runner.manager.insert(Pet, { name: 'Lost', categoryId: 1n });
      await expect(runner.commitTransaction()).rejects.toThrow(refused);
      await expect(runner.rollbackTransaction()).rejects.toThrow(refused);
      throw new Error('changed its mind');
    };
    await expect(inSharedTransaction(dataSource, work)).rejects.toThrow('changed its mind');
    expect(await bank.committed()).toEqual([]);
  });

  it('store nothing of what follows a savepoint that could not begin', async () => {
    await using bank = await startBank();
    const { dataSource } = bank;
    const done: string[] = [];
    const work = dataSource.transaction(async (manager) => {
      await manager.query('SELECT nothing').catch(() => undefined);
      await manager.transaction(() => Promise.resolve()).catch(() => undefined);
      await manager.insert(Pet, { name: 'Rex', categoryId: 1n }).catch(() => undefined);
      afterCommit(manager, () => done.push('committed'));
    });
    // SQLite rolls back the failed statement only.
    if (onPostgres) await expect(work).rejects.toThrow('A statement of this transaction failed');
    else await work;
    expect(await bank.committed()).toEqual(onPostgres ? [] : ['Rex']);
    expect(done).toEqual(onPostgres ? [] : ['committed']);
  });

  onSqlite('are not begun by a query runner that is released', async () => {
    await using bank = await startBank();
    const runner = bank.dataSource.createQueryRunner();
    const begun = runner.startTransaction();
    await runner.release();
    await expect(begun).rejects.toThrow('released');
    await expect(runner.startTransaction()).rejects.toThrow('released');
    await bank.pets.insert({ name: 'Rex', categoryId: 1n });
    expect(await bank.committed()).toEqual(['Rex']);
  });

  it('are isolated, 8 at once, while pets are created and rows are saved', async () => {
    // Enough connections for all of them, and few: on a busy machine, opening one takes long.
    await using bank = await startBank({ env: { DATABASE_POOL_SIZE: '20' } });
    const { dataSource, pets, deposit } = bank;
    const client = await bank.service.client();
    const transactions = times(8, (index) =>
      dataSource.transaction(async (manager) => {
        await deposit(manager);
        await manager.save(manager.create(Pet, { name: `In ${index}`, categoryId: 1n }));
        if (index % 4 === 0) throw new Error('changed its mind');
      }),
    );
    const creates = times(8, () => client.post('/v1/pets', rex));
    const saves = times(4, (index) => pets.save({ name: `Beside ${index}`, categoryId: 2n }));
    const inserts = times(4, (index) => pets.insert({ name: `Beside ${index}`, categoryId: 3n }));
    const settled = await Promise.allSettled(transactions);
    expect(outcomes(settled)).toBe(6);
    expect((await Promise.all(creates)).map(({ status }) => status)).toEqual(times(8, () => 201));
    await Promise.all([...saves, ...inserts]);
    expect(await bank.balance()).toBe(6);
    expect(await pets.countBy({ categoryId: 1n })).toBe(6);
    expect(await pets.countBy({ categoryId: 2n })).toBe(4);
    expect(await pets.countBy({ categoryId: 3n })).toBe(4);
    expect(await pets.countBy({ name: 'Rex' })).toBe(8);
  });

  it('are visible to others only after the commit', async () => {
    await using bank = await startBank();
    const client = await bank.service.client();
    const before = await client.get('/v1/pets');
    await bank.dataSource.transaction(async (manager) => {
      await manager.save(manager.create(Pet, { name: 'Perhaps', categoryId: 1n }));
      expect(await manager.countBy(Pet, { name: 'Perhaps' })).toBe(1);
      expect(await bank.pets.countBy({ name: 'Perhaps' })).toBe(0);
      expect((await client.get('/v1/pets')).text).toBe(before.text);
    });
    expect((await client.get('/v1/pets')).text).toContain('Perhaps');
  });

  it('are joined by what an idempotent handler does, as one', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const pet = { name: 'Joined', categoryId: 1n };
    const work = async (fails: boolean): Promise<void> => {
      await pets.save({ ...pet });
      await dataSource.transaction((manager) => manager.save(Pet, { ...pet }));
      await bank.deposit(dataSource.manager);
      if (fails) throw new Error('changed its mind');
    };
    await expect(inSharedTransaction(dataSource, () => work(true))).rejects.toThrow('its mind');
    expect([await pets.countBy({ name: 'Joined' }), await bank.balance()]).toEqual([0, 0]);
    await inSharedTransaction(dataSource, () => work(false));
    expect([await pets.countBy({ name: 'Joined' }), await bank.balance()]).toEqual([2, 1]);
  });

  it('run one after the other where an idempotent handler begins them side by side', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const insertTwice = (name: string) =>
      dataSource.transaction(async (manager) => {
        await manager.insert(Pet, { name, categoryId: 1n });
        await manager.transaction((inner) => inner.insert(Pet, { name, categoryId: 2n }));
        if (name === 'Bad') throw new Error('changed its mind');
      });
    const work = () => Promise.allSettled(['Good', 'Bad', 'Good', 'Good'].map(insertTwice));
    const settled = await inSharedTransaction(dataSource, work);
    expect(settled.map(({ status }) => status === 'rejected')).toEqual([false, true, false, false]);
    expect(await pets.countBy({ name: 'Good' })).toBe(6);
    expect(await pets.countBy({ name: 'Bad' })).toBe(0);
  });

  it('end with all that was begun in them, and others are not part of them', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const client = await bank.service.client();
    const stray = { name: 'Stray', categoryId: 1n };
    const strays: Promise<unknown>[] = [];
    const work = () => {
      const transactions = times(3, (index) =>
        dataSource.transaction(async (manager) => {
          await manager.insert(Pet, { ...stray });
          await pause(20);
          if (index === 0) throw new Error('changed its mind');
          await manager.insert(Pet, { ...stray });
        }),
      );
      const save = async (delayMs: number) => {
        await pause(delayMs);
        for (let count = 0; count < 5; count++) await pets.save({ ...stray });
      };
      strays.push(...transactions, ...times(25, save));
      return Promise.all(strays);
    };
    await expect(inSharedTransaction(dataSource, work)).rejects.toThrow('its mind');
    for (let count = 0; count < 5; count++) {
      expect((await client.post('/v1/pets', rex)).status).toBe(201);
      await pets.save({ name: 'Kept', categoryId: 1n });
    }
    await Promise.allSettled(strays);
    const kept = times(5, () => 'Kept');
    expect(await bank.committed()).toEqual([...kept, ...times(5, () => 'Rex')]);
  });

  it('are rolled back if they are not ended by hand, and others are not part of them', async () => {
    await using bank = await startBank();
    const client = await bank.service.client();
    const runner = bank.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.insert(Pet, { name: 'Forgotten', categoryId: 1n });
    await runner.release();
    expect((await client.post('/v1/pets', rex)).status).toBe(201);
    expect(await bank.committed()).toEqual(['Rex']);
  });

  it('that are begun with SQL take no writes of others with them', async () => {
    await using bank = await startBank();
    const { dataSource } = bank;
    const client = await bank.service.client();
    const runner = dataSource.createQueryRunner();
    const begun = [runner.query('BEGIN'), dataSource.query('BEGIN')];
    for (const { status } of await Promise.allSettled(begun)) {
      expect(status).toBe(onPostgres ? 'fulfilled' : 'rejected');
    }
    await runner.release();
    for (let count = 0; count < 5; count++) {
      expect((await client.post('/v1/pets', rex)).status).toBe(201);
    }
    await dataSource.query('ROLLBACK').catch(() => undefined);
    expect(await bank.committed()).toEqual(times(5, () => 'Rex'));
  });

  it('in which a statement failed are not committed in part', async () => {
    await using bank = await startBank();
    const { dataSource } = bank;
    const done: string[] = [];
    const count = 50;
    for (let number = 0; number < count; number++) {
      const work = dataSource.transaction(async (manager) => {
        afterCommit(manager, () => done.push('committed'));
        await manager.insert(Pet, { name: 'First', categoryId: 1n });
        await manager.query('SELECT nothing').catch(() => undefined);
      });
      // SQLite rolls back the failed statement only.
      if (onPostgres) await expect(work).rejects.toThrow('A statement of this transaction failed');
      else await work;
    }
    const committed = onPostgres ? 0 : count;
    expect(await bank.committed()).toHaveLength(committed);
    expect(done).toHaveLength(committed);
  });

  it('whose commit fails take no writes of others with them, and are rolled back', async () => {
    const extensions = [{ module: LabelsModule, migrations: [CreateLabels1780000000000] }];
    await using bank = await startBank({ extensions });
    const { dataSource } = bank;
    let rollbacks = 0;
    dataSource.subscribers.push({ afterTransactionRollback: () => void rollbacks++ });
    const results = await Promise.allSettled(
      times(16, (index) =>
        dataSource.transaction(async (manager) => {
          if (index % 2 === 0) await manager.query('INSERT INTO labels VALUES (999)');
          else await manager.insert(Pet, { name: 'Rex', categoryId: 1n });
        }),
      ),
    );
    expect(outcomes(results)).toBe(8);
    expect(rollbacks).toBe(8);
    expect(await bank.committed()).toEqual(times(8, () => 'Rex'));
  });

  it('within a shared one have its isolation level, or are rejected', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const work = dataSource.transaction.bind(dataSource, 'SERIALIZABLE', (manager) =>
      manager.insert(Pet, { name: 'Serial', categoryId: 1n }),
    );
    await dataSource.transaction('SERIALIZABLE', (manager) =>
      manager.transaction('SERIALIZABLE', (inner) =>
        inner.insert(Pet, { name: 'Serial', categoryId: 1n }),
      ),
    );
    const shared = inSharedTransaction(dataSource, work);
    if (onPostgres) await expect(shared).rejects.toThrow('cannot be SERIALIZABLE');
    else await shared;
    expect(await pets.countBy({ name: 'Serial' })).toBe(onPostgres ? 1 : 2);
  });

  it('fail if a savepoint that was begun by hand is not ended', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const work = inSharedTransaction(dataSource, async () => {
      await pets.insert({ name: 'Lost', categoryId: 1n });
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.release();
    });
    await expect(work).rejects.toThrow('begun with a query runner was not ended');
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.committed()).toEqual([]);
  });

  it('end although a savepoint that lost a race never ends', async () => {
    await using bank = await startBank();
    const { dataSource } = bank;
    const never = () => new Promise<void>(() => undefined);
    const work = () => Promise.race([dataSource.transaction(never), pause(10)]);
    await expect(inSharedTransaction(dataSource, work)).rejects.toThrow();
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.balance()).toBe(1);
  });

  it('fail with the error of a statement, while others of the handler still run', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    await dataSource.query('CREATE UNIQUE INDEX one_name ON pets (name)');
    const save = async (name: string, ticks = 0) => {
      for (let count = 0; count < ticks; count++) await Promise.resolve();
      await pets.save({ name, categoryId: 1n });
    };
    await save('Taken');
    // The second one may be anywhere when the first one has failed.
    for (let ticks = 0; ticks < 50; ticks++) {
      const work = () => Promise.all([save('Taken'), save('One', ticks)]);
      await expect(inSharedTransaction(dataSource, work)).rejects.toMatchObject({
        driverError: { code: expect.stringMatching(/^23505$|^SQLITE_CONSTRAINT_UNIQUE$/) },
      });
    }
    expect(await pets.count()).toBe(1);
  });

  it('are followed by their callbacks, unless they are rolled back', async () => {
    await using bank = await startBank();
    const { dataSource } = bank;
    const done: string[] = [];
    const note = (what: string, manager = dataSource.manager): void =>
      afterCommit(manager, () => done.push(what));
    note('outside');
    expect(done).toEqual(['outside']);
    await dataSource.transaction(async (manager) => {
      note('outer');
      afterCommit(manager, () => Promise.reject(new Error('no callback')));
      await manager.transaction((inner) => Promise.resolve(note('inner', inner)));
      const undone = manager.transaction((inner) => {
        note('undone', inner);
        throw new Error('changed its mind');
      });
      await expect(undone).rejects.toThrow('its mind');
      expect(done).toEqual(['outside']);
    });
    expect(done).toEqual(['outside', 'outer', 'inner']);
    const failed = dataSource.transaction(() => {
      note('undone');
      throw new Error('changed its mind');
    });
    await expect(failed).rejects.toThrow('its mind');
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    note('by hand', runner.manager);
    await runner.commitTransaction();
    await runner.release();
    expect(done).toEqual(['outside', 'outer', 'inner', 'by hand']);
  });

  it('take nothing that is written after their end', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const gateway = new TableGateway(Pet, bank.service.store.app.get(Database));
    let proceed = (): void => undefined;
    const late = new Promise<void>((resolve) => (proceed = resolve));
    const strays: Promise<unknown>[] = [];
    const work = inSharedTransaction(dataSource, () => {
      const stray = { name: 'Stray', categoryId: 1n };
      strays.push(
        late.then(() => pets.insert(stray)),
        late.then(() => gateway.insert(stray)),
      );
      throw new Error('changed its mind');
    });
    await expect(work).rejects.toThrow('its mind');
    proceed();
    for (const { status } of await Promise.allSettled(strays)) expect(status).toBe('rejected');
    expect(await pets.countBy({ name: 'Stray' })).toBe(0);
  });

  onSqlite('are rejected within another one, which continues', async () => {
    await using bank = await startBank();
    await bank.dataSource.transaction(async (manager) => {
      await bank.deposit(manager);
      const within = [
        bank.dataSource.transaction(bank.deposit),
        bank.pets.save({ name: 'Within', categoryId: 1n }),
        bank.pets.insert({ name: 'Within', categoryId: 1n }),
        bank.dataSource.createQueryRunner().startTransaction(),
      ];
      for (const result of await Promise.allSettled(within)) {
        expect(String((result as PromiseRejectedResult).reason)).toContain('Nested transaction');
      }
    });
    expect(await bank.balance()).toBe(1);
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.balance()).toBe(2);
    expect(await bank.pets.countBy({ name: 'Within' })).toBe(0);
  });

  it('may lock rows on both engines', async () => {
    await using bank = await startBank();
    const { id } = await bank.pets.save({ name: 'Locked', categoryId: 1n });
    const found = await bank.dataSource.transaction((manager) =>
      manager.findOne(Pet, { where: { id }, ...rowLock(manager) }),
    );
    expect(found).toMatchObject({ id });
  });

  it('are rolled back when they stay open, and others continue', async () => {
    const { logger, lines } = recordedLog();
    await using bank = await startBank({ logger });
    const client = await bank.service.client();
    const stuck = bank.dataSource.transaction(async (manager) => {
      await bank.deposit(manager);
      await pause(3_500);
      await manager.query('UPDATE accounts SET balance = 99');
    });
    const [, created] = await Promise.all([
      expect(stuck).rejects.toThrow(onPostgres ? /connection broke/ : /open for more than 3000 ms/),
      client.post('/v1/pets', rex),
    ]);
    expect(created.status).toBe(201);
    if (!onPostgres) {
      expect(lines).toContainEqual({
        level: 'warn',
        details: { context: 'SQLite' },
        message: expect.stringContaining('open for more than 3000 ms'),
      });
    }
    expect(await bank.balance()).toBe(0);
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.balance()).toBe(1);
  });

  it('keep int64 exact, through Repository too', async () => {
    await using bank = await startBank();
    const { pets } = bank;
    const saved = await pets.save({ name: 'Max', categoryId: 9_223_372_036_854_775_807n });
    expect(typeof saved.id).toBe('bigint');
    const found = await pets.findOneByOrFail({ id: saved.id });
    expect(found).toEqual({ ...saved, status: null });
    expect(found.categoryId).toBe(9_223_372_036_854_775_807n);
    const far = 9_007_199_254_740_993n;
    await bank.dataSource.query(
      `INSERT INTO pets (id, name, category_id) VALUES (${far}, 'Far', ${-far})`,
    );
    expect(await pets.findOneBy({ id: far })).toMatchObject({ id: far, categoryId: -far });
    expect(await pets.findOneBy({ categoryId: -far })).toMatchObject({ id: far });
    found.status = 'sold';
    await pets.save(found);
    expect(await pets.countBy({ status: 'sold' })).toBe(1);
    const client = await bank.service.client();
    expectError(await client.get(`/v1/pets/${far - 1n}`), 404, 'pet_not_found');
    expect((await client.get(`/v1/pets/${far}`)).text).toContain(`"id":${far},`);
  });
});
