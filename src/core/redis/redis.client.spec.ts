import { inspect } from 'node:util';
import tls, { type ConnectionOptions } from 'node:tls';
import { FakeServer } from '../../../test/support/fake-server.js';
import { connectRedis, RedisClient } from './redis.client.js';

/** https://redis.io/docs/latest/develop/reference/protocol-spec/ */
const COMMAND = /\*\d+\r\n\$\d+\r\n(\w+)\r\n/g;
const SCRIPT = { name: 'petstoreTest', lua: 'return 1' };

/** A Redis that answers commands by their names. */
const startRedis = (answer: (command: string) => string) =>
  FakeServer.start((chunk) =>
    Array.from(chunk.matchAll(COMMAND), ([, name]) => `${answer(name!.toUpperCase())}\r\n`).join(
      '',
    ),
  );

async function failure(url: string): Promise<Error> {
  const client = await connectRedis(url);
  client.define(SCRIPT);
  const error: unknown = await client.run(SCRIPT, 'key', []).catch((caught: unknown) => caught);
  client.onApplicationShutdown();
  return error as Error;
}

describe(RedisClient.name, () => {
  afterEach(() => jest.restoreAllMocks());

  it('runs different scripts for the first time at the same time', async () => {
    await using redis = await startRedis(() => ':1');
    const client = await connectRedis(`redis://127.0.0.1:${redis.port}`);
    const other = { ...SCRIPT, name: 'petstoreOther' };
    for (const script of [SCRIPT, other]) client.define(script);
    const answers = [SCRIPT, other, SCRIPT].map((script) => client.run(script, 'key'));
    expect(await Promise.all(answers)).toEqual([1, 1, 1]);
    client.onApplicationShutdown();
  });

  it('checks the certificate of a cluster for the host, not for its address', async () => {
    const connect = jest.spyOn(tls, 'connect');
    // Nothing listens there.
    const client = await connectRedis('rediss://localhost:1,rediss://localhost:2');
    client.onApplicationShutdown();
    const hosts = connect.mock.calls.map(([options]) => (options as ConnectionOptions).host);
    expect(new Set(hosts)).toEqual(new Set(['localhost']));
  });

  it('names host, port, cause and fix of a wrong password in one line without the password', async () => {
    const cause = 'WRONGPASS invalid username-password pair or user is disabled.';
    await using redis = await startRedis((name) =>
      name === 'AUTH' ? `-${cause}` : '-NOAUTH Authentication required.',
    );
    const address = `127.0.0.1:${redis.port}`;
    const url = `redis://:a-secret@${address}`;
    const line = `Redis at ${address} cannot be used: ${cause}; correct the user or password in REDIS_URL`;
    const error = await failure(url);
    expect(error.message).toBe(line);
    expect(inspect(error, { depth: null })).not.toMatch(/a-secret|\n +at /);
    expect((await failure(`${url},${url}`)).message).toContain(cause);
  });

  it('says that a port is no Redis, whether its server replies or closes the connection', async () => {
    await using web = await FakeServer.start(() => 'HTTP/1.1 400 Bad Request\r\n\r\n');
    await using other = await FakeServer.start((_chunk, socket) => {
      socket.destroy();
      return '';
    });
    for (const { port } of [web, other]) {
      expect((await failure(`redis://127.0.0.1:${port}`)).message).toMatch(
        /cannot be used: not connected; .* be no Redis, or expect rediss:\/\/; check REDIS_URL/,
      );
    }
  });

  it('says that a Redis may hang that accepts a connection and sends nothing', async () => {
    await using redis = await startRedis(() => '');
    const error = await failure(`redis://127.0.0.1:${redis.port}`);
    expect(error.message).toMatch(/may hang.*; check REDIS_URL, and that Redis runs/);
  });

  it('names the fix for rediss:// on a port without TLS, and for no Redis at all', async () => {
    await using redis = await startRedis(() => '-ERR Protocol error');
    const address = `127.0.0.1:${redis.port}`;
    expect((await failure(`rediss://${address}`)).message).toMatch(
      new RegExp(
        `^Redis at ${address} cannot be used: .*; use redis:// in REDIS_URL, or the TLS port`,
      ),
    );
    expect((await failure('redis://127.0.0.1:1')).message).toMatch(
      /^Redis at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED.*; check REDIS_URL, and that Redis runs/,
    );
  });
});
