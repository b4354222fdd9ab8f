import type { Pool } from 'pg';
import { PostgresReader } from './postgres.reader.js';

type Callback = (error: Error | undefined, result?: { rows: unknown[] }) => void;

/** A connection whose answers are given by hand. */
class FakeClient {
  readonly asked: { text: string; answer: Callback }[] = [];
  readonly released: unknown[] = [];
  readonly connectionParameters = { query_timeout: 3_500 };
  readonly connection = {
    stream: {
      cork: () => undefined,
      uncork: () => undefined,
      destroy: () => {
        for (const { answer } of this.asked.splice(0)) {
          answer(new Error('Connection terminated unexpectedly'));
        }
      },
    },
  };

  query({ text }: { text: string }, answer: Callback): void {
    this.asked.push({ text, answer });
  }

  /** Answers everything, with its own text. */
  answerAll(): void {
    for (const { text, answer } of this.asked.splice(0)) answer(undefined, { rows: [text] });
  }

  release(error: unknown): void {
    this.released.push(error);
  }
}

describe(PostgresReader.name, () => {
  let clients: FakeClient[];
  let isPoolEmpty: boolean;
  let reader: PostgresReader;
  const pool = {
    connect: () => {
      if (isPoolEmpty) {
        return Promise.reject(new Error('timeout exceeded when trying to connect'));
      }
      const client = new FakeClient();
      clients.push(client);
      return Promise.resolve(client);
    },
  };
  beforeEach(() => {
    jest.useFakeTimers();
    [clients, isPoolEmpty] = [[], false];
    reader = new PostgresReader(() => pool as unknown as Pool);
  });
  afterEach(() => {
    // One that is left would end the connection under whoever has it then.
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const read = (text: string): Promise<unknown> =>
    reader.read({ text }).catch((error: Error) => error.message);
  const reads = (count: number) => Array.from({ length: count }, (_, index) => read(`${index}`));
  const sent = () => jest.advanceTimersByTimeAsync(1);

  it('gives each read of a turn its own rows, over one connection that it then gives back', async () => {
    const answers = Promise.all(reads(3));
    await sent();
    clients[0]!.answerAll();
    expect(await answers).toEqual([['0'], ['1'], ['2']]);
    expect(clients).toHaveLength(1);
    expect(clients[0]!.released).toEqual([undefined]);
  });

  it('makes of a row what it is told to', async () => {
    const answer = reader.read({ text: 'row' }, (row) => `<${String(row)}>`);
    await sent();
    clients[0]!.answerAll();
    expect(await answer).toEqual(['<row>']);
  });

  it('lets no more than 16 wait behind one that is slow', async () => {
    const answers = Promise.all(reads(33));
    await sent();
    expect(clients.map(({ asked }) => asked.length)).toEqual([16, 16, 1]);
    for (const client of clients) client.answerAll();
    expect(await answers).toHaveLength(33);
  });

  it('fails one read alone, and keeps the connection', async () => {
    const answers = Promise.all(reads(3));
    await sent();
    const [client] = clients;
    const [failing] = client!.asked.splice(1, 1);
    failing!.answer(Object.assign(new Error('bad'), { code: '22P02' }));
    client!.answerAll();
    expect(await answers).toEqual([['0'], 'bad', ['2']]);
    expect(client!.released).toEqual([undefined]);
  });

  it('has the pool close a connection that broke, and puts no other read on it', async () => {
    const answers = Promise.all(reads(2));
    await sent();
    const [client] = clients;
    const broken = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    client!.asked.shift()!.answer(broken);
    const later = read('later');
    await sent();
    expect(clients).toHaveLength(2);
    clients[1]!.answerAll();
    expect(await later).toEqual(['later']);
    client!.answerAll();
    expect(await answers).toEqual(['reset', ['1']]);
    expect(client!.released).toEqual([broken]);
  });

  it('fails who waits for a connection in vain, and asks for one again', async () => {
    isPoolEmpty = true;
    expect(await Promise.all(reads(2))).toEqual(
      Array(2).fill('timeout exceeded when trying to connect'),
    );
    isPoolEmpty = false;
    const answer = read('again');
    await sent();
    clients[0]!.answerAll();
    expect(await answer).toEqual(['again']);
  });

  it('gives a connection back in time to those who wait for the pool, while reads keep coming', async () => {
    for (let turn = 0; turn < 30; turn++) {
      void read(`${turn}`);
      await jest.advanceTimersByTimeAsync(10);
      // The one before, so that there is always one under way.
      clients[0]!.asked.splice(0, turn === 0 ? 0 : 1).forEach(({ answer }) => {
        answer(undefined, { rows: [] });
      });
    }
    for (const client of clients) client.answerAll();
    expect(clients.length).toBeGreaterThan(1);
    expect(clients[0]!.released).toEqual([undefined]);
  });

  it('gives up a server that does not answer, and bounds each statement of others as before', async () => {
    const answers = Promise.all(reads(2));
    await jest.advanceTimersByTimeAsync(4_000);
    expect(await answers).toEqual(Array(2).fill('Connection terminated unexpectedly'));
    const [client] = clients;
    expect(client!.released).toEqual([expect.any(Error)]);
    expect(client!.connectionParameters.query_timeout).toBe(3_500);
  });
});
