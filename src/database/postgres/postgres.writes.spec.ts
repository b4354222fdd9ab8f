import { HeldError, run, Statement, type Step, type Work } from '../statement.js';
import type { PostgresTransaction } from './postgres.transaction.js';
import { PostgresWrites } from './postgres.writes.js';

const many = { columns: { name: 'text' as const }, text: () => '' };
const CLAIM = new Statement<string>('claim', () => '', undefined, many);
const INSERT = new Statement<string>('insert', () => '', undefined, many);
const LONER = new Statement<string>('loner', () => '');

describe(PostgresWrites.name, () => {
  /** Of each transaction: its packets, each of the statements that left together, with their parameters. */
  let begun: string[][][];
  let outcomes: ('committed' | 'undone')[];
  let refuse: (name: unknown) => Error | undefined;
  let committed: number[];
  let connection: Promise<unknown>;
  let writes: PostgresWrites;

  beforeEach(() => {
    [begun, outcomes] = [[], []];
    refuse = () => undefined;
    connection = Promise.resolve();
    committed = [];
    const transact = async <Result>(
      work: (transaction: PostgresTransaction) => Promise<Result>,
    ) => {
      await connection;
      const transaction: Transaction = { packets: [], packet: undefined };
      begun.push(transaction.packets);
      try {
        const result = await work({
          run: (steps: readonly Step[]) => answer(steps, transaction),
        } as PostgresTransaction);
        outcomes.push('committed');
        return result;
      } catch (error) {
        outcomes.push('undone');
        throw error;
      }
    };
    writes = new PostgresWrites(transact, (units) => committed.push(units));
  });

  interface Transaction {
    packets: string[][];
    /** What leaves next. */
    packet: string[] | undefined;
  }
  async function answer(steps: readonly Step[], transaction: Transaction): Promise<unknown[][]> {
    if (transaction.packet === undefined) {
      transaction.packets.push((transaction.packet = []));
      queueMicrotask(() => (transaction.packet = undefined));
    }
    const names = steps.map(({ parameters }) => parameters[0]);
    transaction.packet.push(`${steps[0]!.statement.name} ${names.join()}`);
    await Promise.resolve();
    for (const name of names) {
      const error = refuse(name);
      if (error !== undefined) throw error;
    }
    return names.map((name) => [`row of ${String(name)}`]);
  }

  const insert = (name: string) => writes.write(() => run(INSERT, name));
  const claimed = (name: string, judge: () => void = () => undefined) =>
    writes.write(function* (): Work<string[]> {
      yield* run(CLAIM, name);
      judge();
      return yield* run(INSERT, name);
    });
  const outcome = (results: PromiseSettledResult<unknown>[]) =>
    results.map((result) =>
      result.status === 'fulfilled' ? String(result.value) : (result.reason as Error).message,
    );

  it('does the units of a turn in one transaction, and gives each its own rows', async () => {
    expect(await Promise.all(['a', 'b', 'c'].map(insert))).toEqual([
      ['row of a'],
      ['row of b'],
      ['row of c'],
    ]);
    expect(begun).toEqual([[['insert a,b,c']]]);
    expect(committed).toEqual([3]);
  });

  it('sends the equal statements of a step as one, and all of a step together', async () => {
    await Promise.all([insert('a'), claimed('b'), insert('c'), claimed('d')]);
    expect(begun).toEqual([[['insert a,c', 'claim b,d'], ['insert b,d']]]);
  });

  it('takes along who comes before there is a connection', async () => {
    let connect = (): void => undefined;
    connection = new Promise<void>((resolve) => (connect = resolve));
    const first = insert('a');
    await new Promise(setImmediate);
    const second = insert('b');
    await new Promise(setImmediate);
    connect();
    await Promise.all([first, second]);
    expect(begun).toEqual([[['insert a,b']]]);
  });

  it('tells all who wait where there is no connection, and asks for one again', async () => {
    connection = Promise.reject(new Error('timeout exceeded when trying to connect'));
    const message = 'timeout exceeded when trying to connect';
    expect(outcome(await Promise.allSettled([insert('a'), insert('b')]))).toEqual([
      message,
      message,
    ]);
    connection = Promise.resolve();
    expect(await insert('c')).toEqual(['row of c']);
  });

  it('gives a unit whose first statement is not made for many a transaction of its own', async () => {
    await Promise.all([insert('a'), writes.write(() => run(LONER, 'b')), insert('c')]);
    expect(begun).toEqual([[['loner b']], [['insert a,c']]]);
  });

  it('does the others once more, together, where a unit fails by rule', async () => {
    const judge = (): void => {
      throw new Error('rule');
    };
    const results = await Promise.allSettled([insert('a'), claimed('b', judge), insert('c')]);
    expect(outcome(results)).toEqual(['row of a', 'rule', 'row of c']);
    expect(outcomes).toHaveLength(3);
    expect(begun[1]).toEqual([['insert a,c']]);
    expect(begun[2]).toEqual([['claim b']]);
  });

  it('finds the one that the database refuses in halves, and does all others', async () => {
    refuse = (name) => (name === '5' ? new Error('refused') : undefined);
    const names = Array.from({ length: 16 }, (_none, index) => String(index));
    const results = await Promise.allSettled(names.map(insert));
    expect(outcome(results)).toEqual(
      names.map((name) => (name === '5' ? 'refused' : `row of ${name}`)),
    );
    // Four halvings, each of which commits the half that is well.
    expect(outcomes.filter((each) => each === 'committed')).toHaveLength(4);
    expect(outcomes.filter((each) => each === 'undone')).toHaveLength(5);
  });

  it('does those alone of which one would have to wait for its row', async () => {
    refuse = (name) => (name === 'held' ? new HeldError() : undefined);
    const results = await Promise.allSettled([
      insert('a'),
      ...['b', 'held', 'd'].map((name) => claimed(name)),
    ]);
    expect(outcome(results)).toEqual([
      'row of a',
      'row of b',
      'Another unit of work holds the row',
      'row of d',
    ]);
    expect(begun.map(([first]) => first)).toEqual([
      ['insert a', 'claim b,held,d'],
      ['insert a'],
      ['claim b'],
      ['claim held'],
      ['claim d'],
    ]);
  });

  it('does nothing again where the database is away: what was committed is not known', async () => {
    refuse = () => Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    expect(outcome(await Promise.allSettled(['a', 'b'].map(insert)))).toEqual(['gone', 'gone']);
    expect(begun).toHaveLength(1);
  });
});
