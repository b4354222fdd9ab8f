import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { type CallHandler, Injectable, Module, type NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import type { Observable } from 'rxjs';
import { DataSource } from 'typeorm';
import { Logger } from '../../src/index.js';
import { jsonInProcess } from '../support/run-program.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { metricValue } from '../support/metrics.js';
import { sendRaw } from '../support/raw-answers.js';
import { logTo, recordedLog } from '../support/recorded-log.js';
import { startService } from '../support/start-service.js';
import { TemporaryDirectory } from '../support/temporary-directory.js';

@Injectable()
class LoggingInterceptor implements NestInterceptor {
  constructor(private readonly logger: Logger) {}

  intercept(_context: unknown, next: CallHandler): Observable<unknown> {
    this.logger.info({}, 'intercepted');
    return next.handle();
  }
}

@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: LoggingInterceptor }] })
class LoggingModule {}

describe('the log', () => {
  it('has the request id on each line within a request, also after a late body', async () => {
    using directory = new TemporaryDirectory();
    const file = join(directory.path, 'log');
    const logger = await logTo(openSync(file, 'a'));
    const extensions = [{ name: 'logging', module: LoggingModule }];
    await using service = await startService({ logger, extensions });
    const client = await service.client();
    const pet = JSON.stringify({ name: 'Rex', categoryId: 1 });
    const post = { method: 'POST', path: '/v1/pets', agent: new Agent() };
    const headers = {
      authorization: `Bearer ${client.key}`,
      'content-type': 'application/json',
      'content-length': pet.length,
    };
    const late = request(service.origin, {
      ...post,
      headers: { ...headers, 'x-request-id': 'late' },
    });
    late.flushHeaders();
    await client.get('/v1/pets/7', { 'x-request-id': 'get' });
    await client.post('/v1/pets', { name: 'Luna', categoryId: 1 }, { 'x-request-id': 'post' });
    late.end(pet);
    await once(late, 'response');
    const lines = () => readFileSync(file, 'utf8').split('\n');
    const intercepted = () => lines().filter((line) => line.includes('intercepted'));
    await eventually(() => Promise.resolve(intercepted().length === 3));
    expect(
      intercepted().map((line) => (JSON.parse(line) as { requestId: string }).requestId),
    ).toEqual(['get', 'post', 'late']);
    late.destroy();
    client.close();
  });

  it('has the status of a request that code of the process injects, and so do the metrics', async () => {
    const { logger, lines } = recordedLog();
    await using service = await startService({ logger });
    const client = await service.client();
    const fastify = service.store.app.getHttpAdapter().getInstance();
    const headers = { authorization: `Bearer ${client.key}` };
    const { statusCode } = await fastify.inject({ url: '/v1/pets', headers });
    expect(statusCode).toBe(200);
    await eventually(() => Promise.resolve(lines.some(({ details }) => details.operation)));
    const [line] = lines.filter(({ details }) => details.operation === 'listPets');
    expect(line).toMatchObject({ message: 'request', details: { status: 200 } });
    const labels = { operation: 'listPets', method: 'GET', status: '200' };
    const count = 'petstore_http_request_duration_seconds_count';
    expect(await metricValue(service, count, labels)).toBe(1);
    client.close();
  });

  it('has a request with two Host fields, and so do the metrics', async () => {
    const { logger, lines } = recordedLog();
    await using service = await startService({ logger });
    const host = 'Host: localhost\r\n';
    await sendRaw(
      service.origin,
      `GET /v1/pets HTTP/1.1\r\n${host}${host}Connection: close\r\n\r\n`,
    );
    await eventually(() => Promise.resolve(lines.some(({ message }) => message === 'request')));
    expect(lines.filter(({ message }) => message === 'request')).toMatchObject([
      { details: { status: 400, code: 'malformed_request', address: '127.0.0.1' } },
    ]);
    const labels = { operation: 'unknown', method: 'GET', status: '400' };
    const count = 'petstore_http_request_duration_seconds_count';
    expect(await metricValue(service, count, labels)).toBe(1);
  });

  it.each(['/docs/%zz', '/%zz'])('has no operation for %s', async (path) => {
    const { logger, lines } = recordedLog();
    await using service = await startService({ logger });
    expectError(await service.anonymous().get(path), 400, 'malformed_request');
    await eventually(() => Promise.resolve(lines.some(({ message }) => message === 'request')));
    const details = { operation: 'unknown', path: 'none', code: 'malformed_request' };
    expect(lines.filter(({ message }) => message === 'request')).toMatchObject([{ details }]);
  });

  it('has the request id on the line of a failure of each operation', async () => {
    const { logger, lines } = recordedLog();
    await using service = await startService({ logger });
    const client = await service.client();
    await service.store.app.get(DataSource).query('ALTER TABLE pets RENAME TO gone');
    for (const path of ['/v1/pets', '/v1/pets/1']) {
      const failed = await client.get(path, { 'x-request-id': 'mine' });
      expectError(failed, 500, 'internal_error');
    }
    const failures = lines.filter(({ level }) => level === 'error');
    expect(failures.map(({ details }) => [details.requestId, details.operation])).toEqual([
      ['mine', 'listPets'],
      ['mine', 'getPet'],
    ]);
    client.close();
  });

  it('has the address of each response, the code of each error, and no key', async () => {
    using directory = new TemporaryDirectory();
    const file = join(directory.path, 'log');
    // Stays open: a logger writes for as long as the process runs.
    const fd = openSync(file, 'a');
    const logger = await logTo(fd);
    await using service = await startService({ logger });
    const client = await service.client({ plan: 'free', scopes: ['pets:read'] });
    const { key, keyId: id } = client;
    const mine = { 'x-request-id': 'mine' };
    await client.get('/v1/pets', mine);
    await client.get('/v1/pets/999999999', mine);
    await client.get(`/v1/${key}?key=${key}`, mine);
    await client.post('/v1/pets', {}, mine);
    await client.get('/v1/pets', { ...mine, authorization: `Basic ${key}` });
    await client.get('/health/live', mine);
    const revoked = await service.client();
    await jsonInProcess(service.config.databaseUrl, 'keys', 'revoke', revoked.keyId!, '--yes');
    await revoked.get('/v1/pets', mine);
    await client.get('/docs', mine);
    await client.get('/v1/%zz', mine);
    await client.get('/%zz', mine);
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a line is expected to be
    const lines = (): any[] => {
      const text = readFileSync(file, 'utf8').split('\n');
      return text.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as unknown);
    };
    const requests = () => lines().filter(({ requestId }) => requestId === 'mine');
    await eventually(() => Promise.resolve(requests().length >= 9));

    const common = { service: 'pet-store-service', version: '1.0.0', level: expect.any(String) };
    for (const line of lines()) expect(line).toMatchObject(common);
    const rejection = {
      level: 'info',
      address: '127.0.0.1',
      keyId: id,
      durationMs: expect.any(Number),
    };
    const [listed, ...others] = requests();
    expect(listed).toMatchObject({
      msg: 'request',
      operation: 'listPets',
      keyId: id,
      status: 200,
      address: '127.0.0.1',
    });
    expect(listed).not.toHaveProperty('code');
    expect(others).toMatchObject([
      { ...rejection, path: '/v1/pets/:petId', status: 404, code: 'pet_not_found' },
      { ...rejection, path: '/v1/*', status: 404, code: 'not_found' },
      { ...rejection, path: '/v1/pets', method: 'POST', status: 403, code: 'insufficient_scope' },
      { path: '/v1/pets', status: 401, code: 'missing_api_key', address: '127.0.0.1' },
      { ...rejection, keyId: revoked.keyId, status: 401, code: 'invalid_api_key' },
      { operation: 'docsFile', status: 200 },
      { ...rejection, path: '/v1/*', status: 400, code: 'malformed_request' },
      { status: 400, code: 'malformed_request', address: '127.0.0.1' },
    ]);
    expect(others[3]).not.toHaveProperty('keyId');
    const documented = readFileSync('docs/operating.md', 'utf8');
    for (const field of new Set(lines().flatMap((line) => Object.keys(line)))) {
      expect(documented).toContain(`\`${field}\``);
    }
    const text = readFileSync(file, 'utf8');
    for (const secret of [key, revoked.key, '/health']) expect(text).not.toContain(secret);
    for (const each of [client, revoked]) each.close();
  });
});
