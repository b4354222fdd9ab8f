import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type Served, Workplace } from '../support/petstore-process.js';

const LIMIT = 100;

describe('petstore serve --workers 2', () => {
  let workplace: Workplace;
  let server: Served;
  let metricsPort: number;
  beforeAll(async () => {
    workplace = new Workplace({ LOG_FORMAT: 'json', NODE_ENV: 'production' });
    metricsPort = await freePort();
    server = await workplace.serve({ METRICS_PORT: String(metricsPort) }, '--workers', '2');
  }, 60_000);
  afterAll(() => workplace.remove());

  const issue = async (perDay = 1_000_000): Promise<{ id: string; key: string }> => {
    const limits = ['--per-minute', '1000000', '--per-day', String(perDay)];
    return workplace.json('keys', 'issue', '--name', 'zoo', '--plan', 'enterprise', ...limits);
  };
  const workerPids = (): number[] =>
    readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number);
  const linesOf = (message: string) =>
    server
      .output()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  /** Every client has connections of its own, so that both workers are asked. */
  const clients = (count: number, key: string) =>
    Array.from({ length: count }, () => new Client(server.origin, key));

  it('admits exactly the limit of simultaneous requests, whichever worker is asked', async () => {
    const { key } = await issue(LIMIT);
    const answers = await Promise.all(
      clients(30, key).flatMap((client) =>
        Array.from({ length: 10 }, () => client.get('/v1/pets?limit=1')),
      ),
    );
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted).toHaveLength(LIMIT);
    const left = admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: LIMIT }, (_none, n) => n));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(200);
    await eventually(() =>
      Promise.resolve(new Set(linesOf('request').map(({ worker }) => worker)).size === 2),
    );
  });

  it('forgets a revoked key within a second on every worker', async () => {
    const { id, key } = await issue();
    const all = clients(8, key);
    const statuses = async () =>
      new Set(
        (await Promise.all(all.map((client) => client.get('/v1/pets')))).map((a) => a.status),
      );
    expect(await statuses()).toEqual(new Set([200]));
    await workplace.json('keys', 'revoke', id);
    await new Promise((resume) => setTimeout(resume, 1_000));
    expect(await statuses()).toEqual(new Set([401]));
  });

  it('bans a key on every worker, until the ban is lifted', async () => {
    const { id, key } = await issue(1);
    const all = clients(10, key);
    const refused = async () => {
      const answers = await Promise.all(all.map((client) => client.get('/v1/pets')));
      return new Set(answers.map((answer) => (answer.json() as { code: string }).code));
    };
    for (let round = 0; round < 12; round++) await refused();
    expect(await refused()).toEqual(new Set(['key_banned']));
    await workplace.json('keys', 'unban', id);
    await eventually(async () => !(await refused()).has('key_banned'));
  });

  it('shows the metrics of all workers as those of one server', async () => {
    const count = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      expect(text).toMatch(/^petstore_counter_store{mode="memory"} 1$/m);
      const [, requests] =
        /^petstore_http_requests_total{operation="createPet",status="400"} (\d+)$/m.exec(text) ??
        [];
      return Number(requests ?? 0);
    };
    const { key } = await issue();
    await Promise.all(clients(8, key).map((client) => client.post('/v1/pets', '{')));
    await eventually(async () => (await count()) === 8);
  });

  it('replaces a worker that is killed, and keeps every animal that was acknowledged', async () => {
    const { key } = await issue();
    const acknowledged: string[] = [];
    let isOver = false;
    const write = async (client: Client): Promise<void> => {
      while (!isOver) {
        const answer = await client
          .post('/v1/pets', { name: 'Rex', categoryId: 7 })
          .catch(() => {});
        await new Promise((resume) => setTimeout(resume, 10));
        if (answer?.status === 201) acknowledged.push(new URL(answer.headers.location!).pathname);
      }
    };
    const writers = clients(8, key).map(write);
    await eventually(() => Promise.resolve(acknowledged.length > 50));
    const [victim] = workerPids();
    process.kill(victim!, 'SIGKILL');
    await eventually(() => Promise.resolve(linesOf('Listening').length === 3));
    isOver = true;
    await Promise.all(writers);
    expect(linesOf('A worker died')).toMatchObject([{ worker: 0, pid: victim, signal: 'SIGKILL' }]);
    expect(workerPids()).toHaveLength(2);
    const [reader] = clients(1, key);
    const found = await Promise.all(acknowledged.map((path) => reader!.get(path)));
    expect(new Set(found.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('writes whole lines of log, however many processes write them', () => {
    for (const line of server.output().trim().split('\n'))
      expect(() => JSON.parse(line)).not.toThrow();
  });

  it('answers what it has accepted before it stops, and counts on where it was', async () => {
    const { id, key } = await issue();
    const answers: Promise<unknown>[] = [];
    const broken: unknown[] = [];
    let isOver = false;
    const load = async (client: Client): Promise<void> => {
      while (!isOver) {
        const answer = client.get('/v1/pets');
        answers.push(answer);
        await answer.catch((error: NodeJS.ErrnoException) => {
          isOver = true;
          if (error.code !== 'ECONNREFUSED') broken.push(error);
        });
      }
    };
    const loads = clients(8, key).map(load);
    await eventually(() => Promise.resolve(answers.length > 100));
    expect(await server.stop()).toBe(0);
    await Promise.all(loads);
    expect(broken).toEqual([]);
    const admitted = (await Promise.allSettled(answers)).filter(
      ({ status }) => status === 'fulfilled',
    ).length;

    server = await workplace.serve({}, '--workers', '2');
    const [client] = clients(1, key);
    const { headers } = await client!.get('/v1/pets');
    const day = /"day";r=(\d+)/.exec(String(headers['ratelimit']))![1];
    expect(1_000_000 - Number(day)).toBe(admitted + 1);
    expect(await workplace.json('keys', 'usage', id)).toBeDefined();
  });

  it('ends with the process that started it, even where that is killed', async () => {
    const pids = workerPids();
    expect(await server.stop('SIGKILL')).toBeNull();
    await eventually(() =>
      Promise.resolve(
        pids.every((pid) => {
          try {
            process.kill(pid, 0);
            return false;
          } catch {
            return true;
          }
        }),
      ),
    );
  });
});

describe('petstore serve --workers', () => {
  const workplace = new Workplace({ LOG_FORMAT: 'json' });
  afterAll(() => workplace.remove());

  it.each(['0', '-1', 'two', '1.5', '257', ''])('takes no %j for a number', async (count) => {
    const { code, stderr, stdout } = await workplace.run('serve', '--workers', count);
    expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({
      code: 2,
      stdout: '',
      lines: 1,
    });
  });

  it('needs a database that processes can share', async () => {
    const child = workplace.start(['serve', '--workers', '2'], { DATABASE_URL: 'sqlite::memory:' });
    expect((await once(child, 'exit'))[0]).toBe(2);
  });

  it('says once why no worker can start, and ends', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    const child = workplace.start(['serve', '--workers', '3'], {
      PORT: String(port),
      METRICS_PORT: '0',
    });
    let stderr = '';
    child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    expect((await once(child, 'close'))[0]).toBe(1);
    expect(stderr.match(/EADDRINUSE/g)).toHaveLength(1);
    blocker.close();
  });
});
