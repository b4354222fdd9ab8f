import {
  type ArgumentsHost,
  Body,
  type CanActivate,
  type CallHandler,
  Catch,
  ClassSerializerInterceptor,
  ConflictException,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  Ip,
  type MessageEvent,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type OnModuleInit,
  Post,
  Query,
  RawBody,
  Render,
  Req,
  Res,
  Sse,
  UploadedFile,
  UseFilters,
  UseGuards,
  UseInterceptors,
  Version,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, HttpAdapterHost, Reflector } from '@nestjs/core';
import { RouteConstraints, RouteSchema } from '@nestjs/platform-fastify';
import { SkipThrottle, Throttle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { Exclude } from 'class-transformer';
import { IsInt, ValidateNested } from 'class-validator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  AnyScope,
  CurrentCaller,
  errors,
  Idempotent,
  IdempotencyKey,
  Page,
  PageQuery,
  Public,
  RequireScope,
} from 'pet-store-service';
import { map, NEVER, type Observable } from 'rxjs';
import type { DataSource } from 'typeorm';
import { PetsRepository } from '../../src/pets/pets.repository.js';
import { RateLimiter } from '../../src/rate-limits/rate-limiter.js';
import type { Answer, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders, headerCounts } from '../support/expectations.js';
import { ordinaryGuest, seen } from '../support/ordinary-guest.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService, type TestService } from '../support/start-service.js';

const rex = { visitor: 'Ann', when: 'morning' };
const ball = { name: 'ball', size: 1 };

describe('a guest of ordinary Nest code', () => {
  const clock = new FakeClock();
  const { logger, lines } = recordedLog();
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startService({ extensions: [ordinaryGuest], clock, logger });
    client = await service.client();
  });
  afterAll(() => service?.close());

  const refused = (answer: Answer, message: string | RegExp): void => {
    expectError(answer, 400, 'invalid_request');
    expectRateHeaders(answer);
    expect(answer.json().message).toMatch(message);
  };
  const got = async (path: string): Promise<unknown> =>
    (await client.get(`/v1/visits/${path}`)).json();
  const posted = async (path: string, body: unknown): Promise<unknown> =>
    (await client.post(`/v1/visits${path}`, body)).json();

  it('is given a DTO of its own class, nested ones too, with its initialiser run for each request', async () => {
    const sent = { ...rex, favourite: ball, toys: [ball] };
    const answer = { isVisit: true, isToy: true, visit: { ...sent, notes: ['made'] } };
    expect(await posted('', sent)).toEqual(answer);
    expect(await posted('', sent)).toEqual(answer);
  });

  it.each([
    [{ ...rex, more: 1 }, '"more" is not a known member'],
    [{ ...rex, notes: ['mine'] }, '"notes" is not a known member'],
    [{ ...rex, toString: 1 }, '"toString" is not a known member'],
    [{ ...rex, favourite: { ...ball, more: 1 } }, '"favourite.more" is not a known member'],
    [{ ...rex, favourite: { ...ball, constructor: 'x' } }, '"favourite.constructor" is not'],
    [{ ...rex, toys: [ball, { ...ball, valueOf: 1 }] }, '"toys.1.valueOf" is not a known member'],
    [
      { ...rex, toys: [{ name: 'too long', size: 0 }] },
      /toys\.0\.name must be .*toys\.0\.size must/,
    ],
    [{ visitor: 'ann', when: 'noon' }, /visitor must match .*; when must be one of/],
    [{ ...rex, favourite: 'x' }, /favourite/],
    [[], /must be a JSON object/],
  ])('refuses %j, naming each fault', async (body, message) => {
    refused(await client.post('/v1/visits', body), message);
  });

  it.each([
    '{"__proto__":{"x":1}}',
    '{"favourite":{"__proto__":{"size":1}}}',
    '{"constructor":{}}',
  ])('gives %s no meaning, to a DTO and to a plain body', async (text) => {
    refused(await client.post('/v1/visits', text), /"[a-z._]+" is not a known member/);
    refused(await client.post('/v1/visits/plain', text), /"[a-z._]+" is not a known member/);
  });

  it('is given one member of the body, where it asks for that alone', async () => {
    expect(await posted('/name', { name: 'Rex', age: 3, more: 1 })).toEqual({
      name: 'Rex',
      age: 3,
    });
    expect(await posted('/name', {})).toEqual({});
  });

  it('is given a plain object, int64 to the last digit', async () => {
    const answer = await client.post('/v1/visits/plain', '{"id":9223372036854775807,"a":[{}]}');
    expect(answer.text).toBe('{"isPlain":true,"body":{"id":9223372036854775807,"a":[{}]}}');
  });

  it('has its own pipes make of a value what they do', async () => {
    expect(await posted('/list', [ball])).toEqual({ count: 1, areToys: true });
    refused(await client.post('/v1/visits/list', [{ name: 1 }]), /name/);
    const put = (body: unknown) =>
      client.send('/v1/visits/own-pipe', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await put(ball)).json()).toEqual(ball);
    refused(await put({ ...ball, more: 1 }), '"more" is not a known member');
    expect(await got('numbers/2?add=3')).toEqual({ sum: 5 });
    refused(await client.get('/v1/visits/numbers/x?add=3'), /numeric string/);
    refused(await client.get('/v1/visits/numbers/2'), /numeric string/);
    expect(await got('shout/hello')).toEqual({ word: 'HELLO', mood: null });
  });

  it('finds the body on the request, in decorators and guards of its own', async () => {
    expect(await posted('/request', { a: 1 })).toEqual({ body: { a: 1 } });
    expect((await client.send('/v1/visits/request', { method: 'POST' })).json()).toEqual({
      body: null,
    });
    expect(await posted('/sender', { sender: 'Ann' })).toEqual({ sender: 'Ann' });
    expect((await client.post('/v1/visits/guarded', { open: true })).status).toBe(202);
    expectError(await client.post('/v1/visits/guarded', {}), 403, 'forbidden');
    expectError(await client.post('/v1/visits/request', '{'), 400, 'malformed_json');
  });

  it('is not bothered with a body that is no JSON where it asks for none', async () => {
    const text = { 'content-type': 'text/plain' };
    expect((await client.post('/v1/visits/nothing', 'no json', text)).status).toBe(201);
  });

  it('is asked nothing without a key, and no byte of a body is read', async () => {
    const answer = await service.anonymous().post('/v1/visits/plain', '{');
    expectError(answer, 401, 'missing_api_key');
  });

  it('has a schema judge what it is given, and documented', async () => {
    expect(await posted('/kennels', { name: 'North' })).toEqual({ name: 'North', boxes: 3 });
    refused(
      await client.post('/v1/visits/kennels', { name: 'N', boxes: 'x', more: 1 }),
      /name: .*boxes: .*more/,
    );
    expect(await got('kennels?open=yes&near=a&near=b')).toEqual({ open: 'yes', near: ['a', 'b'] });
    expect(await got('kennels?open=yes&in=a&in=b')).toEqual({ open: 'yes', in: ['a', 'b'] });
    const since = '2026-11-22T00:00:00.000Z';
    expect(await got(`kennels?open=yes&since=${since}`)).toEqual({ open: 'yes', since });
    refused(await client.get('/v1/visits/kennels?open=maybe'), /open: /);
    refused(await client.get('/v1/visits/kennels?open=yes&more=1'), /"more" is not a known query/);
    refused(await client.get('/v1/visits/kennels?open=yes&open=no'), /open is given twice/);
    expect(await got('since?seen-since=7')).toEqual({ since: 7 });
    expect(await got('since?seen-since=0')).toEqual({ since: 0 });
    refused(await client.get('/v1/visits/since?since=7'), /"since" is not a known query/);
    expect(await got('kennels/7')).toEqual({ id: 7 });
    refused(await client.get('/v1/visits/kennels/x'), /^id: /);
    const { paths } = (await service.anonymous().get('/openapi.json')).json();
    const { post, get } = paths['/visits/kennels'];
    expect(post.requestBody.content['application/json'].schema.properties.name).toMatchObject({
      type: 'string',
      minLength: 2,
    });
    const names = get.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['open', 'in', 'near', 'since']);
  });

  it('is given query parameters that it declares, by whatever means, and each once', async () => {
    expect(await got('page')).toEqual({ page: null });
    expect(await got('page?page=2')).toEqual({ page: '2' });
    refused(
      await client.get('/v1/visits/page?q=1&page=1&page=2'),
      '"q" is not a known query parameter; page is given twice',
    );
    expect(await got('paging?page=2&tags=a&tags=b')).toEqual({
      isPaging: true,
      page: 2,
      tags: ['a', 'b'],
    });
    expect(await got('paging')).toEqual({ isPaging: true, page: 1 });
    refused(
      await client.get('/v1/visits/paging?page=0&x=1'),
      /^"x" is not a known .*; page must not be less than 1$/,
    );
    expect(await got('documented?colour=red&size=1&size=2')).toEqual({
      colour: 'red',
      size: ['1', '2'],
    });
    refused(
      await client.get('/v1/visits/documented?colour=red&colour=blue'),
      'colour is given twice',
    );
    refused(await client.get('/v1/visits/documented?__proto__=1'), /not a known query parameter/);
  });

  it.each([
    ['aviaries', { name: 'South' }, { name: 'South', birds: 3 }, { name: 'S' }],
    ['stables', { name: 'East', horses: 2 }, { name: 'East', horses: 2 }, { name: 'E', horses: 2 }],
  ])('has a schema of another library judge a body: %s', async (path, sent, made, wrong) => {
    expect(await posted(`/${path}`, sent)).toEqual(made);
    refused(await client.post(`/v1/visits/${path}`, wrong), /^name: /);
  });

  it('has a schema take what it has a use for, by whatever name, and nothing else', async () => {
    expect(await got('stables?open=no')).toEqual({ open: 'no' });
    refused(await client.get('/v1/visits/stables?open=perhaps'), /open/);
    refused(await client.get('/v1/visits/stables?open=no&more=1'), '"more" is not a known query');
    const aviaries = (query: string) => got(`aviaries?${query}`);
    expect(await aviaries('open=yes')).toEqual({ isOpen: true, from: 'dawn', page: null });
    expect(await aviaries('open=no&not-before=dawn&page=2')).toEqual({
      isOpen: false,
      from: 'dawn',
      page: '2',
    });
    refused(await client.get('/v1/visits/aviaries?open=perhaps'), /open: /);
    refused(await client.get('/v1/visits/aviaries?open=no&from=noon'), '"from" is not a known');
    refused(await client.get('/v1/visits/aviaries?open=no&page=1&page=2'), 'page is given twice');
    refused(await client.get('/v1/visits/aviaries?open=no&open=no'), /open: /);
    refused(
      await client.get('/v1/visits/aviaries?open=perhaps&more=1'),
      '"more" is not a known query',
    );
  });

  it.each([
    ['archived=false', { archived: false }],
    ['page=1', { page: 1 }],
    ['page=abc', { page: 1 }],
    ['all=true', { all: true }],
    ['archived=true&page=2&all=', { archived: true, page: 2, all: false }],
  ])('has a schema take %s, whatever it makes of it', async (query, made) => {
    const answer = await client.get(`/v1/visits/burrows?${query}`);
    expect([answer.status, answer.json()]).toEqual([200, made]);
    refused(
      await client.get(`/v1/visits/burrows?${query}&more=1`),
      /^"more" is not a known query parameter$/,
    );
  });

  it('has a schema take thousands of names, no longer than the address lets them be', async () => {
    const names = Array.from({ length: 2_300 }, (_, index) => index.toString(36));
    expect(await got(`anything?${names.join('&')}`)).toEqual({ count: 2_300 });
    refused(await client.get('/v1/visits/anything?__proto__=1'), '"__proto__" is not a known');
  });

  it.each([
    ['conflict', 409, 'conflict', 'Already visited'],
    ['coded', 404, 'visit_not_found', 'There is no such visit'],
    ['bad', 400, 'invalid_request', 'Come again'],
    ['forbidden', 403, 'forbidden', 'Forbidden'],
    ['failed', 412, 'precondition_failed', 'It has changed'],
    ['away', 503, 'service_unavailable', 'Back soon'],
    ['over', 409, 'visit_over', 'The visit 7 is over'],
    ['broken', 500, 'internal_error', 'The service failed to answer this request'],
    ['unreached', 500, 'internal_error', 'The service failed to answer this request'],
  ])('is answered for by what it throws: %s', async (path, status, code, message) => {
    const answer = await client.get(`/v1/visits/${path}`);
    expectError(answer, status, code);
    expectRateHeaders(answer);
    expect(answer.json().message).toBe(message);
    expect('retry-after' in answer.headers).toBe(status === 503);
  });

  it('has the cause of a 500 in the log alone, and its own errors in the document', async () => {
    lines.length = 0;
    expect((await client.get('/v1/visits/broken')).text).not.toContain('secret');
    const line = lines.find(({ level }) => level === 'error');
    expect(line!.details.err.message).toBe('a secret of the log');
    const { paths } = (await service.anonymous().get('/openapi.json')).json();
    const { responses } = paths['/visits/over'].get;
    expect(responses['409'].description).toBe('The visit is over.');
    expect(responses['404'].description).toBe('There is no such animal.');
  });

  it('answers with the status, headers and body that its decorators say', async () => {
    expect((await client.get('/v1/visits/wrapped')).json()).toEqual({ data: { inside: true } });
    const file = await client.get('/v1/visits/file');
    expect([file.text, file.headers['content-type']]).toEqual(['woof', 'text/plain']);
    expectRateHeaders(file);
    const passed = await client.get('/v1/visits/passthrough');
    expect(passed).toMatchObject({ status: 203, headers: { 'x-kept': 'yes', 'x-own': 'yes' } });
    const moved = await client.get('/v1/visits/moved');
    expect(moved).toMatchObject({ status: 301, headers: { location: '/v1/visits/page' } });
    expectRateHeaders(moved);
    const closed = await client.get('/v1/visits/closed');
    expect([closed.status, closed.json()]).toEqual([423, { closed: 'Monday' }]);
    expectRateHeaders(closed);
    const gone = await client.send('/v1/visits/1', { method: 'DELETE' });
    expect([gone.status, gone.text]).toEqual([204, '']);
  });

  it('answers 500 for a header that cannot be sent, says so in the log, and goes on', async () => {
    lines.length = 0;
    const unsendable = await client.get('/v1/visits/to?url=/%0D%0Aset-cookie:%20a=b');
    expectError(unsendable, 500, 'internal_error');
    expectRateHeaders(unsendable);
    expect(unsendable.headers).not.toHaveProperty('location');
    const line = lines.find(({ level }) => level === 'error');
    expect(line!.details.err.message).toContain('["location"]');
    const sent = await client.get('/v1/visits/to?url=/there');
    expect(sent).toMatchObject({ status: 302, headers: { location: '/there' } });
  });

  it('has its own judges run after ours, on every route, with the body that was sent', async () => {
    seen.length = 0;
    await client.get('/v1/pets');
    expect(seen).toEqual(['middleware', 'guard', 'pipe', 'interceptor']);
    seen.length = 0;
    expectError(await service.anonymous().get('/v1/pets'), 401, 'missing_api_key');
    expect(seen).toEqual(['middleware']);
    seen.length = 0;
    expect((await client.post('/v1/visits/nothing', { as: 'guest' })).status).toBe(201);
    expect(seen).toEqual(['middleware', 'guard guest', 'interceptor']);
    expectError(await client.post('/v1/visits/nothing', { as: 'burglar' }), 403, 'forbidden');
    expectError(await client.post('/v1/visits/nothing', '{'), 400, 'malformed_json');
  });

  it('refuses in a middleware as anywhere else', async () => {
    const noTenant = { 'x-tenant': 'none' };
    const caller = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 10 });
    const refused = await caller.get('/v1/visits/page', noTenant);
    expectError(refused, 403, 'forbidden');
    expectRateHeaders(refused);
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');
    expect(refused.json().message).toBe('No tenant');
    // Whoever may not ask is told so first, as anywhere else.
    const limited = await caller.get('/v1/pets', noTenant);
    expectError(limited, 429, 'rate_limit_exceeded');
    expectRateHeaders(limited);
    for (const path of ['/v1/pets', '/v1/visits/page', '/v1/nope']) {
      const unknown = await service.anonymous().get(path, noTenant);
      expectError(unknown, 401, 'missing_api_key');
      expectRateHeaders(unknown);
      expect(unknown.headers['www-authenticate']).toBe('Bearer realm="pet-store"');
    }
    const open = await service.anonymous().get('/open/shop/7', noTenant);
    expectError(open, 403, 'forbidden');
    expect(headerCounts(open)).not.toHaveProperty('x-ratelimit-limit');
  });

  it('is outside /v1, without key or rate headers, where it is @Public(), and only there', async () => {
    const answer = await service.anonymous().get('/open/shop/7');
    expect(answer.json()).toEqual({ id: '7' });
    expect(headerCounts(answer)).not.toHaveProperty('x-ratelimit-limit');
    expectError(await client.get('/v1/open/shop/7'), 404, 'not_found');
    expectError(await service.anonymous().get('/v1/open/shop/till'), 401, 'missing_api_key');
    expect((await client.get('/v1/open/shop/till')).status).toBe(200);
  });

  it('has the limit of @Throttle() for each caller, beside the plan of which a refusal takes nothing', async () => {
    const caller = await service.client();
    const other = await service.client();
    const left = async () =>
      Number((await caller.get('/v1/visits/page')).headers['x-ratelimit-remaining']);
    expect((await caller.get('/v1/limited')).status).toBe(200);
    expect((await caller.get('/v1/limited')).status).toBe(200);
    const before = await left();
    for (let time = 0; time < 150; time++) {
      const refusal = await caller.get('/v1/limited');
      expectError(refusal, 429, 'rate_limit_exceeded');
      expectRateHeaders(refusal);
      const end = (Math.floor(clock.now() / 7_000) + 1) * 7_000;
      const seconds = Math.max(1, Math.ceil((end - clock.now()) / 1000));
      expect(refusal.headers['retry-after']).toBe(String(seconds));
    }
    expect(await left()).toBe(before - 1);
    expect((await other.get('/v1/limited')).status).toBe(200);
    clock.advance(7_000);
    expect((await caller.get('/v1/limited')).status).toBe(200);
  });

  it('counts for @Throttle() an operation, by whichever of its paths and methods it is asked', async () => {
    const caller = await service.client();
    expect((await caller.get('/v1/limited/any')).status).toBe(200);
    expect((await caller.send('/v1/limited/some', { method: 'PUT' })).status).toBe(200);
    for (const path of ['/v1/limited/any', '/v1/limited/some']) {
      expectError(await caller.get(path), 429, 'rate_limit_exceeded');
    }
    expect((await caller.get('/v1/limited')).status).toBe(200);
  });

  it('takes no quota where it says @SkipThrottle(), keeps the headers, and requires scopes', async () => {
    const caller = await service.client({ perMinute: 2, perDay: 2, scopes: ['pets:read'] });
    for (let time = 0; time < 3; time++) {
      const free = await caller.get('/v1/limited/free');
      expect(free.status).toBe(200);
      expectRateHeaders(free);
      expect(free.headers['x-ratelimit-remaining']).toBe('2');
    }
    expectError(await caller.get('/v1/limited/write'), 403, 'insufficient_scope');
    expect((await client.get('/v1/limited/write')).status).toBe(200);
  });

  it('reads and writes through TypeORM, 50 transactions at once, each by itself', async () => {
    const put = await client.send('/v1/purses/ann', { method: 'PUT' });
    expect(put.json()).toEqual({ owner: 'ann', coins: 0 });
    const pets = Array.from({ length: 20 }, () =>
      client.post('/v1/pets', { name: 'Rex', categoryId: 7 }),
    );
    const adds = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        client.post('/v1/purses/ann/coins', { isFalse: index % 5 === 0 }),
      ),
    );
    const count = (status: number) => adds.filter((answer) => answer.status === status).length;
    expect([count(201), count(409)]).toEqual([40, 10]);
    expect((await Promise.all(pets)).every(({ status }) => status === 201)).toBe(true);
    expect((await client.get('/v1/purses/ann')).json()).toEqual({ owner: 'ann', coins: 40 });
    expectError(await client.get('/v1/purses/bob'), 404, 'not_found');
  });
});

describe('a guest behind a proxy', () => {
  @AnyScope()
  @Controller('asker')
  class AskerController {
    @Get()
    ask(@Ip() ip: string, @Req() { protocol, host }: FastifyRequest) {
      return { ip, protocol, host };
    }
  }
  @Module({ controllers: [AskerController] })
  class AskerModule {}
  const forwarded = {
    host: 'inside',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'pets.example',
  };

  it.each([
    ['is told of the client', '127.0.0.0/8', '203.0.113.9', 'https', 'pets.example'],
    ['is told of the proxy alone that is not trusted', '10.0.0.1', '127.0.0.1', 'http', 'inside'],
    ['is told of the proxy alone where none is trusted', 'false', '127.0.0.1', 'http', 'inside'],
  ])('%s', async (_what, trusted, ip, protocol, host) => {
    await using service = await startService({
      extensions: [{ module: AskerModule }],
      env: { TRUST_PROXY: trusted },
    });
    const client = await service.client();
    const answer = await client.get('/v1/asker', forwarded);
    expect(answer.json()).toEqual({ ip, protocol, host });
  });
});

describe('a guest whose filters answer all in their own way', () => {
  @Catch()
  class OwnWay implements ExceptionFilter {
    catch(_error: unknown, host: ArgumentsHost): void {
      void host.switchToHttp().getResponse<FastifyReply>().code(418).send({ own: true });
    }
  }
  @AnyScope()
  @UseFilters(OwnWay)
  @Controller('own')
  class OwnController {
    @Post()
    @UseFilters(OwnWay)
    @Throttle({ default: { limit: 3, ttl: 60_000 } })
    fail(@Body() body: Record<string, unknown>): never {
      throw new ConflictException(body);
    }

    @Get()
    refuse(): never {
      throw errors.not_found('Of its own');
    }
  }
  @Module({
    controllers: [OwnController],
    providers: [{ provide: APP_FILTER, useClass: OwnWay }],
  })
  class OwnModule {}

  it('leaves what the service refuses to it, with body and headers, and answers its own', async () => {
    const options = { extensions: [{ module: OwnModule }], clock: new FakeClock() };
    await using service = await startService(options);
    const client = await service.client();
    for (const path of ['pets', 'own', 'nowhere']) {
      const answer = await service.anonymous().get(`/v1/${path}`);
      expectError(answer, 401, 'missing_api_key');
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="pet-store"');
    }
    expectError(await client.get('/v1/pets/7'), 404, 'pet_not_found');
    expectError(await client.get('/v1/nowhere'), 404, 'not_found');
    expectError(await client.get('/v1/own?more=1'), 400, 'invalid_request');
    expectError(await client.post('/v1/own', '{'), 400, 'malformed_json');
    expect((await client.get('/v1/own')).json()).toEqual({ own: true });
    expect((await client.post('/v1/own', {})).json()).toEqual({ own: true });
    await client.post('/v1/own', {});
    const refused = await client.post('/v1/own', {});
    expectError(refused, 429, 'rate_limit_exceeded');
    expect(refused.headers).toHaveProperty('retry-after');
  });

  it('leaves what the service fails with to it, be it in its operations or before those of guests', async () => {
    await using service = await startService({ extensions: [{ module: OwnModule }] });
    const client = await service.client();
    const { app } = service.store;
    const find = jest.spyOn(app.get(PetsRepository), 'find');
    const away = Object.assign(new Error('away'), { code: 'SQLITE_IOERR' });
    for (const fail of [
      () => Promise.reject(away),
      () => {
        throw away;
      },
    ]) {
      find.mockImplementationOnce(fail);
      const answer = await client.get('/v1/pets/7');
      expectError(answer, 503, 'service_unavailable');
      expectRateHeaders(answer);
      expect(answer.headers['retry-after']).toBe('2');
    }
    find.mockRejectedValueOnce(new TypeError('a secret'));
    expectError(await client.get('/v1/pets/7'), 500, 'internal_error');
    const admit = jest.spyOn(app.get(RateLimiter), 'admit');
    for (const path of ['pets', 'own', 'nowhere']) {
      admit.mockRejectedValueOnce(away);
      expectError(await client.get(`/v1/${path}`), 503, 'service_unavailable');
    }
    expectError(await client.get('/v1/own?more=1'), 400, 'invalid_request');
  });

  it.each([
    ['of the operation', true],
    ['of all', false],
  ])('finds the body on the request in a filter %s', async (_whose, isOfOperation) => {
    @Catch(ConflictException)
    class Echo implements ExceptionFilter {
      catch(_error: unknown, host: ArgumentsHost): void {
        const http = host.switchToHttp();
        const { body } = http.getRequest<FastifyRequest>();
        void http.getResponse<FastifyReply>().code(418).send({ body });
      }
    }
    @AnyScope()
    @Controller('echo')
    class EchoController {
      @Post()
      fail(): never {
        throw new ConflictException();
      }
    }
    if (isOfOperation) UseFilters(Echo)(EchoController);
    @Module({
      controllers: [EchoController],
      providers: isOfOperation ? [] : [{ provide: APP_FILTER, useClass: Echo }],
    })
    class EchoModule {}
    await using service = await startService({ extensions: [{ module: EchoModule }] });
    const client = await service.client();
    expect((await client.post('/v1/echo', { a: 1 })).json()).toEqual({ body: { a: 1 } });
    const plain = await client.post('/v1/echo', 'no json', { 'content-type': 'text/plain' });
    expect(plain.json()).toEqual({});
  });

  it('answers what its own guards throw, on every path', async () => {
    class Closed extends Error {}
    @Catch(Closed)
    class ClosedFilter extends OwnWay {}
    @Injectable()
    class Hours implements CanActivate {
      canActivate(): never {
        throw new Closed();
      }
    }
    @Module({
      providers: [
        { provide: APP_FILTER, useClass: ClosedFilter },
        { provide: APP_GUARD, useClass: Hours },
      ],
    })
    class ClosedModule {}
    await using service = await startService({ extensions: [{ module: ClosedModule }] });
    const answer = await (await service.client()).get('/v1/pets');
    expect([answer.status, answer.json()]).toEqual([418, { own: true }]);
    expectError(await service.anonymous().get('/v1/pets'), 401, 'missing_api_key');
  });
});

describe('a guest that serialises all by class', () => {
  class Toy {
    @Exclude()
    price = 7;
    id: bigint;

    constructor(id: number) {
      this.id = BigInt(id);
    }
  }
  @Injectable()
  class Envelope implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle().pipe(map((data: unknown) => ({ data })));
    }
  }
  @AnyScope()
  @Controller('toys')
  class ToysController {
    @Get()
    list(@Query() query: PageQuery): Page<Toy> {
      return Page.of([new Toy(1), new Toy(2)], query, ({ id }) => id);
    }

    @Get('enveloped')
    @UseInterceptors(Envelope)
    enveloped(@Query() query: PageQuery): Page<Toy> {
      return this.list(query);
    }
  }
  @Module({
    controllers: [ToysController],
    providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }],
  })
  class ToysModule {}

  it('has our answers as they are, and its own pages serialised, in an envelope too', async () => {
    await using service = await startService({ extensions: [{ module: ToysModule }] });
    const client = await service.client();
    const made = await client.post('/v1/pets', { name: 'Rex', categoryId: 7 });
    expect(made.headers.location).toMatch(/\/v1\/pets\/1$/);
    const pet = { id: 1, name: 'Rex', categoryId: 7 };
    expect(made.json()).toEqual(pet);
    expect((await client.get('/v1/pets')).json()).toEqual([pet]);
    const page = await client.get('/v1/toys?limit=1');
    expect(page.json()).toEqual([{ id: 1 }]);
    expect(page.headers.link).toMatch(/cursor=\w+[^>]*>; rel="next"$/);
    const enveloped = await client.get('/v1/toys/enveloped?limit=1');
    expect(enveloped.json()).toEqual({ data: [{ id: 1 }] });
    expect(enveloped.headers.link).toMatch(/cursor=\w+[^>]*>; rel="next"$/);
  });

  it('has our answers as they are where it leaves out whatever no class exposes', async () => {
    @Module({
      providers: [
        {
          provide: APP_INTERCEPTOR,
          useFactory: (reflector: Reflector) =>
            new ClassSerializerInterceptor(reflector, { strategy: 'excludeAll' }),
          inject: [Reflector],
        },
      ],
    })
    class StrictModule {}
    await using service = await startService({ extensions: [{ module: StrictModule }] });
    const client = await service.client();
    const made = await client.post('/v1/pets', { name: 'Rex', categoryId: 7 });
    expect(made.json()).toEqual({ id: 1, name: 'Rex', categoryId: 7 });
    expect(made.headers.location).toMatch(/\/v1\/pets\/1$/);
    await client.post('/v1/pets', { name: 'Tom', categoryId: 7 });
    const page = await client.get('/v1/pets?limit=1');
    expect(page.json()).toEqual([{ id: 1, name: 'Rex', categoryId: 7 }]);
    expect(page.headers.link).toMatch(/cursor=[\w-]+>; rel="next"$/);
  });

  it('finds the pages and the answers to probes as they are, whatever is made of all others', async () => {
    @Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: Envelope }] })
    class EnvelopesModule {}
    await using service = await startService({ extensions: [{ module: EnvelopesModule }] });
    const [client, anyone] = [await service.client(), service.anonymous()];
    expect((await client.get('/v1/pets')).json()).toEqual({ data: [] });
    expect((await anyone.get('/openapi.json')).json()).toHaveProperty('openapi');
    expect((await anyone.get('/docs')).text).toMatch(/^<!doctype html>/i);
    expect((await anyone.get('/health/live')).json()).toEqual({ status: 'ok' });
    expect((await anyone.get('/health/ready')).json()).toHaveProperty('status', 'ok');
  });
});

describe('the start of a guest that asks for what cannot be honoured', () => {
  const startOf = async (guest: object): Promise<string> => {
    const module = guest as new () => object;
    const outcome = startService({ extensions: [{ module }] });
    return outcome.then(
      async (service) => {
        await service.close();
        return 'started';
      },
      (error: Error) => error.message,
    );
  };
  /** A module of one controller of one operation. */
  const guestOf = (onMethod: MethodDecorator[], onClass: ClassDecorator = AnyScope()): object => {
    class Odd {
      odd(): Observable<MessageEvent> {
        return NEVER;
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Odd.prototype, 'odd')!;
    for (const decorate of [Post('odd'), ...onMethod]) {
      decorate(Odd.prototype, 'odd', descriptor);
    }
    onClass(Odd);
    Controller('odd')(Odd);
    class OddModule {}
    Module({ controllers: [Odd] })(OddModule);
    return OddModule;
  };
  const onParameter =
    (decorate: ParameterDecorator): MethodDecorator =>
    (target, name) =>
      decorate(target, name, 0);

  it.each([
    ['@Sse()', [Sse()], 'Odd.odd: @Sse() is not supported'],
    ['@Version()', [Version('2')], 'Odd.odd: @Version() is not supported'],
    ['@Render()', [Render('page')], 'Odd.odd: @Render() is not supported'],
    ['a schema of Fastify', [RouteSchema({})], 'Odd.odd: @RouteSchema() is not supported'],
    [
      'constraints of Fastify',
      [RouteConstraints({ version: '2' })],
      'Odd.odd: @RouteConstraints() is not supported',
    ],
    ['a file', [onParameter(UploadedFile())], 'Odd.odd: @UploadedFile() is not supported'],
    ['a raw body', [onParameter(RawBody())], 'Odd.odd: @RawBody() is not supported'],
    [
      'a throttler of another name',
      [Throttle({ burst: { limit: 1, ttl: 1 } })],
      'Odd.odd: there is no throttler "burst"',
    ],
    ['skipping one', [SkipThrottle({ burst: true })], 'Odd.odd: there is no throttler "burst"'],
    [
      'a limit that is no number',
      [Throttle({ default: { limit: NaN, ttl: 1 } })],
      'Odd.odd: @Throttle() takes whole numbers: limit cannot be NaN',
    ],
    [
      'windows of no length',
      [Throttle({ default: { limit: 1, ttl: 0 } })],
      'Odd.odd: @Throttle() takes whole numbers: ttl cannot be 0',
    ],
    [
      'a block of its own',
      [Throttle({ default: { limit: 1, ttl: 1, blockDuration: 9 } })],
      'Odd.odd: @Throttle() takes',
    ],
    ['a guard of the throttler', [UseGuards(ThrottlerGuard)], 'Odd.odd: ThrottlerGuard is not'],
    ['a path of patterns', [Post('odd/:id?')], 'Odd.odd: the path /odd/odd/:id? is not supported'],
    ['a named rest of a path', [Post('odd/*rest')], 'Odd.odd: the path /odd/odd/*rest is not'],
    [
      'an answer that is sent before it is remembered',
      [onParameter(Res()), Idempotent()],
      'Odd.odd: @Idempotent() with @Res() is not supported',
    ],
  ])('ends where it asks for %s', async (_what, decorators, message) => {
    expect(await startOf(guestOf(decorators))).toContain(message);
  });

  it('ends where it throttles every request by itself, or asks for a host', async () => {
    class OwnGuard extends ThrottlerGuard {}
    @Module({ providers: [{ provide: APP_GUARD, useClass: OwnGuard }] })
    class GuardingModule {}
    expect(await startOf(GuardingModule)).toContain('GuardingModule: OwnGuard is not supported');

    @Module({ imports: [ThrottlerModule.forRoot([{ name: 'burst', limit: 1, ttl: 1 }])] })
    class ThrottlingModule {}
    expect(await startOf(ThrottlingModule)).toContain("A ThrottlerModule of one's own is not");

    @AnyScope()
    @Controller({ path: 'odd', host: 'zoo.example' })
    class Hosted {
      @Post()
      odd(): object {
        return {};
      }
    }
    @Module({ controllers: [Hosted] })
    class HostedModule {}
    expect(await startOf(HostedModule)).toContain('Hosted.odd: @Controller({ host }) is not');
  });

  it('ends where its connection would replace ours, and not where that has a name', async () => {
    const connection = { type: 'better-sqlite3', database: ':memory:' } as const;
    @Module({ imports: [TypeOrmModule.forRoot(connection)] })
    class ReplacingModule {}
    expect(await startOf(ReplacingModule)).toContain(
      'TypeOrmModule.forRoot() without a name is not supported',
    );

    @Module({ imports: [TypeOrmModule.forRoot({ ...connection, name: 'stock' })] })
    class StockModule {}
    await using service = await startService({ extensions: [{ module: StockModule }] });
    expect((await (await service.client()).get('/v1/pets')).status).toBe(200);
    const stock = service.store.app.get<DataSource>(getDataSourceToken('stock'), { strict: false });
    expect(await stock.query('SELECT name FROM sqlite_master')).toEqual([]);
  });

  it('ends where it waits for what does not come by HTTP', async () => {
    class ChatGateway {}
    // As the decorators of the two packages do, which the service has not.
    Reflect.defineMetadata('websockets:is_gateway', true, ChatGateway);
    @Module({ providers: [ChatGateway] })
    class ChatModule {}
    expect(await startOf(ChatModule)).toContain(
      "ChatModule: @WebSocketGateway() ChatGateway is not supported: nobody would ask for its callers' keys",
    );

    @Controller()
    class Sums {
      add(): number {
        return 0;
      }
    }
    Reflect.defineMetadata('microservices:pattern', ['add'], Sums.prototype.add);
    @Module({ controllers: [Sums] })
    class SumsModule {}
    expect(await startOf(SumsModule)).toContain(
      'SumsModule: Sums.add: @MessagePattern() and @EventPattern() are not supported',
    );
  });

  it.each([
    ['a limit', Throttle({ default: { limit: 1, ttl: 1 } }), 'Odd.odd: @Throttle() needs a caller'],
    ['scopes', RequireScope('pets:read'), 'Odd.odd: @RequireScope() or @AnyScope() needs a caller'],
    ['idempotency', Idempotent(), 'Odd.odd: @Idempotent() needs a caller'],
    [
      'idempotency by hand',
      onParameter(IdempotencyKey()),
      'Odd.odd: @IdempotencyKey() needs a caller',
    ],
    ['its caller', onParameter(CurrentCaller()), 'Odd.odd: @CurrentCaller() needs a caller'],
  ])('ends where a @Public() controller asks for %s', async (_what, decorator, message) => {
    expect(await startOf(guestOf([decorator], Public()))).toContain(message);
  });

  it('ends where the rules of a nested object would not be asked', async () => {
    class Leash {
      @IsInt()
      metres!: number;
    }
    class Walk {
      @ValidateNested()
      leash!: Leash;
    }
    @AnyScope()
    @Controller('walks')
    class WalksController {
      @Post()
      addWalk(@Body() walk: Walk): Walk {
        return walk;
      }
    }
    @Module({ controllers: [WalksController] })
    class WalksModule {}
    expect(await startOf(WalksModule)).toContain(
      'WalksController.addWalk: Walk.leash has @ValidateNested() and no @Type()',
    );
  });

  it('ends where it has a body parser of its own', async () => {
    class ParsingModule {
      configure(consumer: MiddlewareConsumer): void {
        const jsonParser = (_request: unknown, _reply: unknown, next: () => void): void => next();
        consumer.apply(jsonParser).forRoutes('*path');
      }
    }
    Module({})(ParsingModule);
    expect(await startOf(ParsingModule)).toContain(
      'ParsingModule.configure: jsonParser is not supported',
    );

    @Module({})
    class AddingModule implements OnModuleInit {
      constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

      onModuleInit(): void {
        const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
        fastify.addContentTypeParser('text/csv', (_request, _payload, done) => done(null));
      }
    }
    expect(await startOf(AddingModule)).toContain(
      'AddingModule.onModuleInit: a parser of text/csv is not supported',
    );
  });

  describe('a route of the transport', () => {
    type Route = (host: HttpAdapterHost) => unknown;
    const answer = (_request: unknown, reply: FastifyReply): unknown => reply.send({ raw: true });
    const fastifyOf = ({ httpAdapter }: HttpAdapterHost): FastifyInstance =>
      httpAdapter.getInstance<FastifyInstance>();
    const guestWith = (add: Route) => {
      @Module({})
      class RawModule implements OnModuleInit {
        constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

        onModuleInit(): void {
          add(this.host);
        }
      }
      return RawModule;
    };

    it.each<[string, string, Route]>([
      ['the adapter', 'GET /v1/raw', ({ httpAdapter }) => httpAdapter.get('/v1/raw', answer)],
      [
        'Fastify',
        'PUT /v1/raw/:id',
        (host) => fastifyOf(host).route({ method: 'PUT', url: '/v1/raw/:id', handler: answer }),
      ],
      [
        'Fastify, with a constraint, at the path of an operation',
        'GET /v1/pets',
        (host) => fastifyOf(host).get('/v1/pets', { constraints: { version: '1.0.0' } }, answer),
      ],
      ['Fastify, at the base address', 'POST /v1', (host) => fastifyOf(host).post('/v1', answer)],
    ])('ends it below /v1, where no key would be asked for: of %s', async (_of, route, add) => {
      expect(await startOf(guestWith(add))).toContain(
        `the route ${route} is not supported: nobody would ask`,
      );
    });

    it('is told with who adds it, in a constructor and in a plugin, too', async () => {
      @Module({})
      class LateModule implements OnModuleInit {
        constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

        onModuleInit(): void {
          this.host.httpAdapter.get('/v1/raw', answer);
        }
      }
      expect(await startOf(LateModule)).toContain(
        'LateModule.onModuleInit: the route GET /v1/raw is not supported',
      );
      @Module({})
      class EarlyModule {
        constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
          host.httpAdapter.get('/v1/pets', answer);
        }
      }
      expect(await startOf(EarlyModule)).toContain('the route GET /v1/pets is not supported');
      const plugged = guestWith((host) =>
        fastifyOf(host).register(
          async (instance) => {
            await Promise.resolve();
            instance.delete('/raw', answer);
          },
          { prefix: '/v1' },
        ),
      );
      expect(await startOf(plugged)).toContain('the route DELETE /v1/raw is not supported');
    });

    it('is served elsewhere', async () => {
      const module = guestWith((host) => fastifyOf(host).get('/v1raw', answer));
      await using service = await startService({ extensions: [{ module }] });
      expect((await service.anonymous().get('/v1raw')).json()).toEqual({ raw: true });
    });
  });
});
