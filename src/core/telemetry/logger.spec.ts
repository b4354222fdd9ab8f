import { execFileSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QueryFailedError } from 'typeorm';
import { eventually } from '../../../test/support/eventually.js';
import { createLogger } from './logger.js';
import { NestLogger } from './nest-logger.js';
import { requestContext } from './request-context.js';

const MORE_THAN_IS_BUFFERED = 20 * 1024 * 1024;

describe(createLogger.name, () => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-log-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  // A logger writes for as long as the process runs. A closed descriptor could become a socket of
  // another test.
  const open = () => {
    const path = join(directory, String(Math.random()));
    return { path, fd: openSync(path, 'a') };
  };
  const openUnreadPipe = () => {
    const path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);
    return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  };
  const written = async (path: string, count: number): Promise<string[]> => {
    const lines = () => readFileSync(path, 'utf8').trim().split('\n');
    await eventually(() => Promise.resolve(lines().length === count));
    return lines();
  };

  it('writes one JSON object per line, with the id of the request', async () => {
    const { path, fd } = open();
    const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, fd);
    logger.debug({}, 'unseen');
    logger.warn({ plan: 'free' }, 'a "quote"\n\u{1f43e}');
    requestContext.run({ id: 'a-1' }, () => logger.info({}, 'Order placed'));
    logger.flush();
    const base = { time: expect.any(Number), service: 'pet-store-service', version: '1.0.0' };
    const lines = await written(path, 2);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { ...base, level: 'warn', plan: 'free', msg: 'a "quote"\n\u{1f43e}' },
      { ...base, level: 'info', requestId: 'a-1', msg: 'Order placed' },
    ]);
  });

  it('writes type, message, code, stack and cause of an error, and no other member', async () => {
    const { path, fd } = open();
    const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, fd);
    const secret = { config: { headers: { Authorization: 'Bearer of-a-third-party' } } };
    const cause = Object.assign(new Error('no route'), secret, { code: 'EHOSTUNREACH' });
    const failed = Object.assign(new TypeError('failed', { cause }), secret, {
      toJSON: () => secret,
    });
    logger.error({ err: failed }, 'one');
    logger.error({ error: failed }, 'two');
    logger.error(failed, 'three');
    new NestLogger(logger).error({ request: 7, failed }, 'Orders');
    new NestLogger(logger).error(failed, 'Orders');
    logger.fatal({ err: { message: 'thrown', ...secret } }, 'six');
    const lines = await written(path, 6);
    expect(lines.join('')).not.toContain('third-party');
    const stack = expect.stringContaining('logger.spec');
    const serialized = { type: 'TypeError', message: 'failed', stack };
    expect(JSON.parse(lines[0]!)).toMatchObject({
      err: { ...serialized, cause: { type: 'Error', message: 'no route', code: 'EHOSTUNREACH' } },
    });
    expect(JSON.parse(lines[3]!)).toMatchObject({ details: { request: 7, failed: serialized } });
    expect(JSON.parse(lines[5]!)).toMatchObject({ err: { message: 'thrown' } });
  });

  it('writes no value that PostgreSQL or JSON.parse() quotes in a message', async () => {
    const { path, fd } = open();
    const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, fd);
    const said = 'invalid input syntax for type bigint: "a "secret" of\na caller"';
    const driverError = Object.assign(new Error(said), { code: '22P02' });
    const failed = new QueryFailedError('SELECT $1', ['a secret'], driverError);
    logger.error({ err: failed }, 'one');
    logger.error({ err: new Error('wrapped', { cause: failed }) }, 'two');
    let notJson: unknown;
    try {
      JSON.parse('a secret');
    } catch (error) {
      notJson = error;
    }
    logger.error({ err: notJson }, 'three');
    const relation = Object.assign(new Error('relation "pets" does not exist'), { code: '42P01' });
    logger.error({ err: relation }, 'four');
    const lines = await written(path, 4);
    expect(lines.join('')).not.toMatch(/secret|caller/);
    const [one, , , four] = lines.map((line) => (JSON.parse(line) as { err: Error }).err);
    expect(one!.message).toBe('invalid input syntax for type bigint: "..."');
    expect(one!.stack).toMatch(/bigint: "\.\.\."\n +at .*logger\.spec/s);
    expect(four!.message).toBe('relation "pets" does not exist');
  });

  it('writes no other member of an error that is nested at any depth, in a line or in details', async () => {
    const { path, fd } = open();
    const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, fd);
    const secret = { config: { headers: { Authorization: 'Bearer of-a-third-party' } } };
    const failed = Object.assign(new TypeError('failed'), secret, { toJSON: () => secret });
    const order: Record<string, unknown> = { at: new Date(0), attempts: [1, { failed }] };
    logger.error({ order }, 'one');
    logger.error({ payment: failed }, 'two');
    new NestLogger(logger).error({ order }, 'Orders');
    order['itself'] = order;
    new NestLogger(logger).warn({ order }, 'Orders');
    const lines = await written(path, 4);
    expect(lines.join('')).not.toContain('third-party');
    const [one, two, three, four] = lines.map((line) => JSON.parse(line) as object);
    const serialized = { type: 'TypeError', message: 'failed', stack: expect.any(String) };
    const logged = { at: '1970-01-01T00:00:00.000Z', attempts: [1, { failed: serialized }] };
    expect(one).toMatchObject({ order: logged });
    expect(two).toMatchObject({ payment: serialized });
    expect(three).toMatchObject({ details: { order: logged } });
    expect(four).toMatchObject({ details: { order: logged } });
  });

  it('writes readable lines for a terminal', async () => {
    const { path, fd } = open();
    const logger = await createLogger({ logLevel: 'info', logFormat: 'pretty' }, fd);
    const request = { requestId: 'a-1', method: 'GET', operation: 'getPet', durationMs: 1.5 };
    const rejection = { path: '/v1/pets/:petId', code: 'pet_not_found', address: '::1' };
    logger.info({ ...request, status: 200, keyId: 'key_1' }, 'request');
    logger.info({ ...request, status: 404, ...rejection }, 'request');
    logger.info({ origin: 'http://x' }, 'Listening');
    const lines = await written(path, 3);
    expect(lines).toEqual([
      expect.stringMatching(/INFO: request: GET getPet 200 in 1\.5 ms key_1 \[a-1\]\s*$/),
      expect.stringMatching(/404 in 1\.5 ms \/v1\/pets\/:petId pet_not_found ::1 \[a-1\]\s*$/),
      expect.stringMatching(/INFO: Listening \{"origin":"http:\/\/x"\}$/),
    ]);
  });

  it.each(['an unread pipe', 'a full disk'])('buffers a bounded amount for %s', async (what) => {
    const fd = what === 'a full disk' ? openSync('/dev/full', 'w') : openUnreadPipe();
    const logger = await createLogger({ logLevel: 'info', logFormat: 'json' }, fd);
    const text = 'x'.repeat(10_000);
    const before = process.memoryUsage.rss();
    for (let bytes = 0; bytes < 20 * MORE_THAN_IS_BUFFERED; bytes += text.length) {
      logger.info({}, text);
    }
    // Garbage that V8 has not collected yet counts as well.
    expect(process.memoryUsage.rss() - before).toBeLessThan(12 * MORE_THAN_IS_BUFFERED);
    await new Promise((resume) => setTimeout(resume, 300));
    // pino flushes synchronously after a fatal line.
    logger.fatal({}, 'over');
  });
});
