import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { type Served, Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';
import { workplaceWithOrders } from '../support/workplace-with-orders.js';

interface Line {
  level: string;
  msg: string;
  requestId?: string;
  status?: number;
}

/** An extension whose operations fail, and which logs errors. */
const TOYS = `
import { Controller, Get, Logger, Module } from '@nestjs/common';
import { AnyScope } from 'pet-store-service';
const broken = (cause) => Object.assign(new Error('declined', { cause }), { token: 'a-secret' });
class Toys {
  log = new Logger('Toys');
  fail() { throw broken(new TypeError('no toys')); }
  logged() {
    this.log.error('as an argument', broken());
    this.log.error(broken());
    this.log.error('with its stack', broken().stack);
    this.log.error({ order: { attempts: [{ failure: broken(new TypeError('no toys')) }] } });
    this.log.error('nested', { order: { payment: { failure: broken() } } });
    return [];
  }
}
for (const name of ['fail', 'logged']) {
  Get(name)(Toys.prototype, name, Object.getOwnPropertyDescriptor(Toys.prototype, name));
}
Controller('toys')(Toys);
AnyScope()(Toys);
class ToysModule {
  configure(consumer) {
    const fail = () => { throw broken(); };
    consumer.apply(fail).forRoutes('toys/middleware');
  }
}
Module({ controllers: [Toys] })(ToysModule);
export default { extensions: [{ name: 'toys', module: ToysModule }] };
`;

function linesIn(served: Served): Line[] {
  const lines = served.output().split('\n');
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Line);
}

/** The lines with which an outage begins and ends, of a store or of a task. */
const BEGINS = /^(?:(Redis) is unreachable|Cannot (.*); retrying)/;
const ENDS = /^(?:(Redis) is reachable|Can (.*) again)/;

/** @returns how each outage begins and ends, by what has it, and the other messages */
function outagesIn(messages: readonly string[]): [Map<string, string>, others: string[]] {
  const outages = new Map<string, string>();
  const others = messages.filter((message) => {
    const begins = BEGINS.exec(message);
    const name = (begins ?? ENDS.exec(message))?.slice(1).find((each) => each !== undefined);
    if (name === undefined) return true;
    outages.set(name, `${outages.get(name) ?? ''}${begins ? 'begins' : 'ends'}, `);
    return false;
  });
  return [outages, others];
}

async function clientOf(workplace: Workplace, served: Served): Promise<Client> {
  const issue = ['keys', 'issue', '--name', 'z', '--plan', 'business'];
  return new Client(served.origin, (await workplace.json(...issue)).key as string);
}

describe('the log of a server', () => {
  it('has one line for each error, with its type, message, stack and cause', async () => {
    using workplace = workplaceWithOrders({ LOG_FORMAT: 'json', NODE_ENV: 'production' });
    workplace.write('petstore.config.js', TOYS);
    const served = await workplace.serve();
    const client = await clientOf(workplace, served);
    for (const path of ['fail', 'middleware', 'logged']) {
      await client.get(`/v1/toys/${path}`, { 'x-request-id': path });
    }
    client.close();
    expect(await served.stop()).toBe(0);
    expect(served.output()).not.toContain('a-secret');
    const linesOf = (id: string): Line[] =>
      linesIn(served).filter(({ requestId, status }) => requestId === id && status === undefined);
    const [err, cause] = ['Error', 'TypeError'].map((type) => ({
      type,
      stack: expect.any(String),
    }));
    const declined = { ...err, message: 'declined' };
    const withCause = { ...declined, cause: { ...cause, message: 'no toys' } };
    expect(linesOf('fail')).toMatchObject([{ level: 'error', err: withCause }]);
    expect(linesOf('middleware')).toMatchObject([{ level: 'error', err: declined }]);
    expect(linesOf('logged')).toMatchObject([
      { msg: 'as an argument', err: declined },
      { msg: 'declined', err: declined },
      { msg: 'with its stack', err: { stack: expect.any(String) } },
      { details: { order: { attempts: [{ failure: withCause }] } } },
      { msg: 'nested', details: { order: { payment: { failure: declined } } } },
    ]);
  });
});

describeWith('postgres', 'the log of a server that loses its stores', (initdb) => {
  describeWith('redis', 'PostgreSQL and Redis', (program) => {
    it('has one line when an outage begins, one when it ends, and one for each failed request', async () => {
      await using database = await PostgresServer.start(initdb);
      await using redis = await RedisServer.start(program);
      const env = { DATABASE_URL: database.url, REDIS_URL: redis.url };
      using workplace = new Workplace({ ...env, LOG_FORMAT: 'json', NODE_ENV: 'production' });
      await workplace.json('migrate');
      const served = await workplace.serve();
      const client = await clientOf(workplace, served);
      const request = async (): Promise<void> => {
        await Promise.all([
          client.get('/v1/pets'),
          client.post('/v1/pets', { name: 'Rex', categoryId: 7 }),
        ]);
      };
      const has = (text: string) => () => Promise.resolve(served.output().includes(text));
      await request();
      await redis.kill();
      await database.stop();
      for (let round = 0; round < 10; round++) {
        await request();
        await new Promise((resume) => setTimeout(resume, 300));
      }
      await Promise.all([redis.run(), database.run()]);
      await eventually(has('Can read changes from the database again'));
      await eventually(has('Redis is reachable'));
      await request();
      client.close();
      expect(await served.stop()).toBe(0);

      const faults = linesIn(served).filter(({ status }) => status === undefined);
      const failed = faults.filter(({ msg }) => msg === 'Request failed with 503');
      expect(new Set(failed.map(({ requestId }) => requestId)).size).toBe(failed.length);
      expect(failed.length).toBeGreaterThan(0);
      const others = faults.filter((line) => !failed.includes(line)).map(({ msg }) => msg);
      const [outages, rest] = outagesIn(others);
      expect([...outages.keys()]).toEqual(
        expect.arrayContaining(['read changes from the database', 'Redis']),
      );
      // On a busy machine an outage may begin again.
      for (const each of outages.values()) expect(each).toMatch(/^(?:begins, ends, )+$/);
      expect(rest).toContain('Stopped');
      expect(rest).toHaveLength(new Set(rest).size);
    });
  });
});
