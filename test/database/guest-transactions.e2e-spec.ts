import { setTimeout as pause } from 'node:timers/promises';
import { DataSource, type EntityManager, type InsertEvent } from 'typeorm';
import { Engine } from '../../src/database/engine.js';
import { inSharedTransaction } from '../../src/database/shared-transaction.js';
import { run, Statement } from '../../src/database/statement.js';
import { Pet } from '../../src/pets/pet.entity.js';
import { expectError } from '../support/expectations.js';
import { recordedLog } from '../support/recorded-log.js';
import { onPostgres, startService, type TestServiceOptions } from '../support/start-service.js';

const BALANCE = new Statement('test.balance', () => 'SELECT balance FROM accounts WHERE id = 1');
const rex = { name: 'Rex', categoryId: 7 };
const times = <Result>(count: number, make: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => make(index));
const outcomes = (results: PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length;

/** A service, and an account in it whose balance guests change by reading and then writing it. */
async function startBank(options: TestServiceOptions = {}) {
  const service = await startService(options);
  const dataSource = service.store.app.get(DataSource);
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
  return {
    service,
    dataSource,
    pets: dataSource.getRepository(Pet),
    balance,
    deposit,
    [Symbol.asyncDispose]: () => service.close(),
  };
}

/** PostgreSQL has a connection for each. */
const onSqlite = onPostgres ? it.skip : it;

describe('transactions of a guest', () => {
  it('are isolated, 50 at once, while animals are created and rows are saved', async () => {
    await using bank = await startBank();
    const { dataSource, pets, deposit } = bank;
    const client = await bank.service.client();
    const transactions = times(50, (index) =>
      dataSource.transaction(async (manager) => {
        await deposit(manager);
        await manager.save(manager.create(Pet, { name: `In ${index}`, categoryId: 1n }));
        if (index % 5 === 0) throw new Error('changed its mind');
      }),
    );
    const creates = times(50, () => client.post('/v1/pets', rex));
    const saves = times(20, (index) => pets.save({ name: `Beside ${index}`, categoryId: 2n }));
    const inserts = times(20, (index) => pets.insert({ name: `Beside ${index}`, categoryId: 3n }));
    const settled = await Promise.allSettled(transactions);
    expect(outcomes(settled)).toBe(40);
    expect((await Promise.all(creates)).map(({ status }) => status)).toEqual(times(50, () => 201));
    await Promise.all([...saves, ...inserts]);
    expect(await bank.balance()).toBe(40);
    expect(await pets.countBy({ categoryId: 1n })).toBe(40);
    expect(await pets.countBy({ categoryId: 2n })).toBe(20);
    expect(await pets.countBy({ categoryId: 3n })).toBe(20);
    expect(await pets.countBy({ name: 'Rex' })).toBe(50);
    client.close();
  });

  it('are not seen by anybody before they are committed, and by everybody then', async () => {
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
    client.close();
  });

  it('may have savepoints of their own', async () => {
    await using bank = await startBank();
    await bank.dataSource.transaction(async (manager) => {
      await bank.deposit(manager);
      const inner = manager.transaction(async (nested) => {
        await bank.deposit(nested);
        throw new Error('only this one');
      });
      await expect(inner).rejects.toThrow('only this one');
    });
    expect(await bank.balance()).toBe(1);
  });

  it('may have several savepoints at once, each of which stands for itself', async () => {
    await using bank = await startBank();
    const savepoint = (manager: EntityManager, index: number): Promise<void> =>
      manager.transaction(async (nested) => {
        await bank.deposit(nested);
        // Of one that is within it.
        await nested.transaction(bank.deposit);
        if (index === 1) throw new Error('only this one');
      });
    const savepoints = (manager: EntityManager) =>
      Promise.allSettled(times(3, (index) => savepoint(manager, index)));
    const runner = bank.dataSource.createQueryRunner();
    await runner.startTransaction();
    expect(outcomes(await savepoints(runner.manager))).toBe(2);
    await runner.commitTransaction();
    await runner.release();
    expect(await bank.balance()).toBe(4);
    expect(outcomes(await bank.dataSource.transaction(savepoints))).toBe(2);
    expect(await bank.balance()).toBe(8);
  });

  it('end after the savepoints in them, and begin none of those that come when one has failed', async () => {
    await using bank = await startBank();
    const late: PromiseSettledResult<void>[] = [];
    const failing = bank.dataSource.transaction(async (manager) => {
      const begun = manager.transaction(async (nested) => {
        await pause(20);
        await bank.deposit(nested);
      });
      const waiting = manager.transaction(bank.deposit);
      void Promise.allSettled([begun, waiting]).then((settled) => late.push(...settled));
      await bank.deposit(manager);
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');
    expect(late.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(String((late[1] as PromiseRejectedResult).reason)).toMatch(/transaction .* is over/);
    expect(await bank.balance()).toBe(0);
  });

  it('leave nothing behind that comes when they are being rolled back', async () => {
    await using bank = await startBank();
    const late = await new Promise<unknown>((resolve) => {
      const failing = bank.dataSource.transaction((manager) => {
        const pet = { name: 'Late', categoryId: 1n };
        setImmediate(() => void manager.insert(Pet, pet).then(resolve, resolve));
        return Promise.reject(new Error('changed its mind'));
      });
      failing.catch(() => undefined);
    });
    expect(late).toBeInstanceOf(Error);
    expect(await bank.pets.countBy({ name: 'Late' })).toBe(0);
  });

  it.each([
    ['nothing', 'rolled back', 0],
    ['for itself', 'committed', 5],
  ])('write %s of what comes when the one is %s that it would have joined', async (...row) => {
    const [, end, written] = row;
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const pet = { name: 'Late', categoryId: 1n };
    let comeLate!: () => void;
    const over = new Promise<void>((resolve) => (comeLate = resolve));
    let late: Promise<PromiseSettledResult<unknown>[]> | undefined;
    const shared = inSharedTransaction(dataSource, async () => {
      await pets.save({ ...pet, name: 'Early' });
      late = over.then(() =>
        Promise.allSettled([
          pets.save({ ...pet }),
          pets.insert({ ...pet }),
          dataSource.query(`INSERT INTO pets (name, category_id) VALUES ('Late', 1)`),
          dataSource.transaction((manager) => manager.save(Pet, { ...pet })),
          bank.service.store.app.get(Engine).write(() => run(BALANCE)),
        ]),
      );
      if (end === 'rolled back') throw new Error('changed its mind');
    });
    await shared.catch(() => undefined);
    comeLate();
    const settled = (await late)!;
    expect(outcomes(settled)).toBe(written);
    for (const each of settled) {
      if (each.status === 'rejected') expect(String(each.reason)).toMatch(/has been rolled back/);
    }
    expect(await pets.countBy({ name: 'Late' })).toBe(written === 0 ? 0 : 4);
  });

  it('are refused within another one, which goes on', async () => {
    await using bank = await startBank();
    await bank.dataSource.transaction(async (manager) => {
      await bank.deposit(manager);
      const within = [
        bank.dataSource.transaction(bank.deposit),
        bank.pets.save({ name: 'Within', categoryId: 1n }),
        bank.dataSource.createQueryRunner().startTransaction(),
        bank.service.store.app.get(Engine).write(() => run(BALANCE)),
      ];
      for (const { status, reason } of (await Promise.allSettled(
        within,
      )) as PromiseRejectedResult[]) {
        expect(status).toBe('rejected');
        expect(reason.message).toMatch(/use the EntityManager that the transaction was given/);
      }
    });
    expect(await bank.balance()).toBe(1);
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.balance()).toBe(2);
    expect(await bank.pets.countBy({ name: 'Within' })).toBe(0);
  });

  onSqlite('are not waited for by what they wait for, but by everybody else', async () => {
    await using bank = await startBank();
    const { dataSource, pets } = bank;
    const beside: unknown[] = [];
    const besideIt = () => pets.insert({ name: 'Beside', categoryId: 1n });
    dataSource.subscribers.push({
      listenTo: () => Pet,
      afterInsert: async ({ entity }: InsertEvent<Pet>) => {
        if (entity.name === 'Told') await besideIt().catch((error) => beside.push(error));
      },
    });
    const told = pets.save({ name: 'Told', categoryId: 1n });
    await Promise.all([told, besideIt(), pets.save({ name: 'Beside', categoryId: 1n })]);
    const byHand = async (): Promise<void> => {
      const runner = dataSource.createQueryRunner();
      await runner.connect();
      await runner.startTransaction();
      await bank.deposit(runner.manager);
      await besideIt().catch((error) => beside.push(error));
      await runner.commitTransaction();
      await besideIt();
      await runner.release();
    };
    await Promise.all([...times(3, byHand), besideIt()]);
    expect(beside.map((error) => (error as Error).message)).toEqual(
      times(4, () => expect.stringContaining('would wait for that transaction')),
    );
    expect(await bank.balance()).toBe(3);
    expect(await pets.countBy({ name: 'Beside' })).toBe(6);
  });

  it('are rolled back when they stay open, and say so; whoever waited goes on', async () => {
    const { logger, lines } = recordedLog();
    await using bank = await startBank({ logger });
    const client = await bank.service.client();
    const late: unknown[] = [];
    const stuck = bank.dataSource.transaction(async (manager) => {
      await bank.deposit(manager);
      await pause(3_300);
      await manager.query('UPDATE accounts SET balance = 99').catch((error) => late.push(error));
    });
    const [, created] = await Promise.all([
      expect(stuck).rejects.toThrow(/open for over 3000 ms and has been rolled back/),
      client.post('/v1/pets', rex),
      // PostgreSQL gives up a statement, too, that waits for 3 s.
      pause(500).then(() => bank.dataSource.transaction(bank.deposit)),
    ]);
    expect(created.status).toBe(201);
    expect(String(late)).toMatch(/rolled back/);
    // Of one that is left open nobody else would hear.
    expect(lines).toContainEqual({
      level: 'warn',
      details: { context: 'TypeORM' },
      message: expect.stringMatching(/open for over 3000 ms .*release each query runner$/),
    });
    expect(await bank.balance()).toBe(1);
    client.close();
  });

  it('are over as a whole when one within them stays open', async () => {
    await using bank = await startBank();
    const outer = bank.dataSource.transaction(async (manager) => {
      await bank.deposit(manager);
      const inner = manager.transaction(async (nested) => {
        await pause(3_300);
        await bank.deposit(nested);
      });
      await expect(inner).rejects.toThrow(/has been rolled back/);
      await manager.query('UPDATE accounts SET balance = 99');
    });
    await expect(outer).rejects.toThrow(/has been rolled back/);
    expect(await bank.balance()).toBe(0);
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.balance()).toBe(1);
  });

  it('are rolled back when their query runner is released', async () => {
    await using bank = await startBank();
    const runners = times(5, () => bank.dataSource.createQueryRunner());
    for (const runner of runners) {
      await runner.startTransaction();
      await bank.deposit(runner.manager);
      await runner.query('an error of syntax').catch(() => undefined);
      await runner.release();
    }
    expect(await bank.balance()).toBe(0);
    for (const expected of [1, 2, 3]) {
      await bank.dataSource.transaction(bank.deposit);
      expect(await bank.balance()).toBe(expected);
    }
  });

  it('are rolled back then, too, where TypeORM has lost count of its savepoints', async () => {
    await using bank = await startBank();
    for (const runner of times(5, () => bank.dataSource.createQueryRunner())) {
      await runner.startTransaction();
      await bank.deposit(runner.manager);
      // Both are the first, and the second is none.
      await Promise.all([runner.startTransaction(), runner.startTransaction()]);
      await runner.release();
    }
    expect(await bank.balance()).toBe(0);
    const deposits = times(20, () => bank.dataSource.transaction(bank.deposit));
    expect(outcomes(await Promise.allSettled(deposits))).toBe(20);
    expect(await bank.balance()).toBe(20);
  });

  it('may be those of a query runner, whose statements end with it', async () => {
    await using bank = await startBank();
    const runner = bank.dataSource.createQueryRunner();
    await runner.startTransaction();
    await bank.deposit(runner.manager);
    await runner.rollbackTransaction();
    await runner.startTransaction();
    await bank.deposit(runner.manager);
    await runner.commitTransaction();
    await runner.release();
    await expect(runner.query('SELECT 1')).rejects.toThrow(/released/i);
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.balance()).toBe(2);
  });

  it('are begun and ended through TypeORM alone: a statement would do it to a connection of all', async () => {
    await using bank = await startBank();
    const texts = ['BEGIN', ' start transaction', 'END', 'SAVEPOINT a', '/* app */ BEGIN'];
    for (const text of texts) {
      await expect(bank.dataSource.query(text)).rejects.toThrow(`instead of: ${text}`);
    }
    await bank.dataSource.transaction(bank.deposit);
    expect(await bank.balance()).toBe(1);
  });

  it('are rolled back, and refused, where a statement hides that it begins one', async () => {
    await using bank = await startBank();
    // A comment ends sooner on SQLite; PostgreSQL takes several statements.
    const hidden =
      bank.dataSource.options.type === 'postgres' ? 'SELECT 1; BEGIN' : '/*/**/BEGIN--*/';
    await expect(bank.dataSource.query(hidden)).rejects.toThrow(`instead of: ${hidden}`);
    const failing = `${hidden}; an error of syntax`;
    await expect(bank.dataSource.query(failing)).rejects.toThrow();
    const client = await bank.service.client();
    for (const expected of [1, 2, 3]) {
      await bank.dataSource.query('UPDATE accounts SET balance = balance + 1 WHERE id = 1');
      expect((await client.post('/v1/pets', rex)).status).toBe(201);
      // As another connection sees it.
      expect(await bank.service.store.app.get(Engine).first(BALANCE)).toMatchObject({
        balance: expected,
      });
    }
    client.close();
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
    const next = await pets.save({ name: 'Next', categoryId: 1n });
    expect(await pets.findOneBy({ id: next.id })).toMatchObject({ name: 'Next' });
    found.status = 'sold';
    await pets.save(found);
    expect(await pets.countBy({ status: 'sold' })).toBe(1);
    const client = await bank.service.client();
    expectError(await client.get(`/v1/pets/${far - 1n}`), 404, 'pet_not_found');
    expect((await client.get(`/v1/pets/${far}`)).text).toContain(`"id":${far},`);
    client.close();
  });
});
