import {
  type CallHandler,
  ClassSerializerInterceptor,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  Query,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { RouteConstraints } from '@nestjs/platform-fastify';
import { Exclude } from 'class-transformer';
import { AnyScope, ApiPage, Page, PageQuery } from 'pet-store-service';
import { map, type Observable } from 'rxjs';
import type { Answer } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders, headerCounts } from '../support/expectations.js';
import { ordinaryExtension, seen } from '../support/ordinary-extension.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService, useService } from '../support/start-service.js';

const rex = { visitor: 'Ann', when: 'morning' };
const ball = { name: 'ball', size: 1 };

describe('an extension of ordinary Nest code', () => {
  const clock = new FakeClock();
  const { logger, lines } = recordedLog();
  const { service, client } = useService({ extensions: [ordinaryExtension], clock, logger });

  const rejected = (answer: Answer, message: string | RegExp): void => {
    expectError(answer, 400, 'invalid_request');
    expectRateHeaders(answer);
    expect(answer.json().message).toMatch(message);
  };
  const got = async (path: string): Promise<unknown> =>
    (await client.get(`/v1/visits/${path}`)).json();
  const posted = async (path: string, body: unknown): Promise<unknown> =>
    (await client.post(`/v1/visits${path}`, body)).json();

  describe('the input of a handler', () => {
    it('gives a handler a fresh instance of its DTO, with nested DTOs and initial values', async () => {
      const sent = { ...rex, favourite: ball, toys: [ball] };
      const answer = { isVisit: true, isToy: true, visit: { ...sent, notes: ['made'] } };
      expect(await posted('', sent)).toEqual(answer);
      expect(await posted('', sent)).toEqual(answer);
    });

    it.each([
      [{ ...rex, more: 1, when: 'noon' }, /"more" is not a known member; when must be one of/],
      [{ ...rex, toString: 1 }, '"toString" is not a known member'],
      [{ ...rex, favourite: { ...ball, constructor: 'x' } }, '"favourite.constructor" is not'],
      [{ ...rex, toys: [ball, { ...ball, size: 0, more: 1 }] }, /"toys\.1\.more".*toys\.1\.size/],
      [[], /must be a JSON object/],
    ])('is a 400 that names every fault: %j', async (body, message) => {
      rejected(await client.post('/v1/visits', body), message);
    });

    it('gives a handler single members, plain bodies and headers as Nest does', async () => {
      const body = { name: 'Rex', age: 3 };
      expect(await posted('/name', { ...body, more: 1 })).toEqual(body);
      const plain = await client.post('/v1/visits/plain', '{"id":9223372036854775807,"a":[{}]}');
      expect(plain.text).toBe('{"isPlain":true,"body":{"id":9223372036854775807,"a":[{}]}}');
      expect(await got('files/a/b.txt')).toEqual({ path: 'a/b.txt' });
      const wrong = await client.post('/v1/visits/files/a', {});
      expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, HEAD']);
    });

    it('runs the pipes of a parameter', async () => {
      const sum = await client.get('/v1/visits/numbers/2?add=3', { 'x-mood': 'calm' });
      expect(sum.json()).toEqual({ sum: 5, mood: 'calm' });
      rejected(await client.get('/v1/visits/numbers/x?add=3'), /numeric string/);
      const path = '/v1/visits/own-pipe';
      expect((await client.put(path, ball)).json()).toEqual(ball);
      rejected(await client.put(path, { ...ball, more: 1 }), '"more" is not a known member');
    });

    it('puts the body on the request, parsed if it is JSON', async () => {
      expect(await posted('/request', { a: 1 })).toEqual({ body: { a: 1 } });
      expectError(await client.post('/v1/visits/request', '{'), 400, 'malformed_json');
      const text = { 'content-type': 'text/plain' };
      expect((await client.post('/v1/visits/nothing', 'no json', text)).status).toBe(201);
      const unknown = await service.anonymous().post('/v1/visits/plain', '{');
      expectError(unknown, 401, 'missing_api_key');
    });

    it('accepts a request without a body if the DTO has no required member', async () => {
      const post = (path: string): Promise<Answer> =>
        client.send(`/v1/visits${path}`, { method: 'POST' });
      expect((await post('/optional')).json()).toEqual({ page: 1 });
      expectError(await post(''), 415, 'unsupported_media_type');
      expect((await post('/request')).json()).toEqual({ body: null });
    });

    it('validates by a Standard Schema, which the document includes', async () => {
      expect(await posted('/kennels', { name: 'North' })).toEqual({ name: 'North', boxes: 3 });
      rejected(
        await client.post('/v1/visits/kennels', { name: 'N', boxes: 'x', more: 1 }),
        /name: .*boxes: .*more/,
      );
      expect(await got('kennels?open=yes&near=a&near=b')).toEqual({
        open: 'yes',
        near: ['a', 'b'],
      });
      rejected(await client.get('/v1/visits/kennels?open=maybe'), /open: /);
      expect(await got('kennels/7')).toEqual({ id: 7 });
      rejected(await client.get('/v1/visits/kennels/x'), /number/);
      for (const [path, wrong] of [
        ['aviaries', { name: 'S' }],
        ['stables', { name: 'E', horses: 2 }],
      ] as const) {
        expect((await client.post(`/v1/visits/${path}`, { name: 'East' })).status).toBe(201);
        rejected(await client.post(`/v1/visits/${path}`, wrong), /^name: /);
      }
      const { paths } = (await service.anonymous().get('/openapi.json')).json();
      const { post, get } = paths['/visits/kennels'];
      const { schema } = post.requestBody.content['application/json'];
      expect(schema.properties.name).toMatchObject({ type: 'string', minLength: 2 });
      const names = get.parameters.map(({ name }: { name: string }) => name);
      expect(names).toEqual(['open', 'near', 'If-None-Match']);
    });

    it('rejects an unknown or repeated query parameter of a DTO alone', async () => {
      expect(await got('page?page=2&q=1')).toEqual({ page: '2' });
      expect(await got('paging?page=2&tags=a&tags=b')).toEqual({
        isPaging: true,
        page: 2,
        tags: ['a', 'b'],
      });
      rejected(
        await client.get('/v1/visits/paging?page=0&page=1&x=1&__proto__=1'),
        /page appears more than once/,
      );
      rejected(await client.get('/v1/visits/paging?page=0&x=1'), /"x" is not .*; page must not be/);
      rejected(await client.get('/v1/pets/7?x=1&y=1'), /^"x" is not a known query .*; "y" is not/);
    });
  });

  it.each([
    ['conflict', 409, 'conflict', 'Already visited'],
    ['over', 409, 'visit_over', 'The visit 7 is over'],
    ['broken', 500, 'internal_error', 'The server could not process this request'],
  ])('answers with the error that it throws: %s', async (path, status, code, message) => {
    const answer = await client.get(`/v1/visits/${path}`);
    expectError(answer, status, code);
    expectRateHeaders(answer);
    expect(answer.json().message).toBe(message);
  });

  it('writes the cause of a 500 to the log alone', async () => {
    lines.length = 0;
    expect((await client.get('/v1/visits/broken')).text).not.toContain('secret');
    const line = lines.find(({ level }) => level === 'error');
    expect(line!.details.err.message).toBe('a secret of the log');
  });

  it('responds with the status, headers and body of decorators, filters and streams', async () => {
    const file = await client.get('/v1/visits/file');
    expect([file.text, file.headers['content-type']]).toEqual(['woof', 'text/plain']);
    const passed = await client.get('/v1/visits/passthrough');
    expect(passed).toMatchObject({ status: 203, headers: { 'x-kept': 'yes', 'x-own': 'yes' } });
    const moved = await client.get('/v1/visits/moved');
    expect(moved).toMatchObject({ status: 301, headers: { location: '/v1/visits/page' } });
    const closed = await client.get('/v1/visits/closed');
    expect([closed.status, closed.json()]).toEqual([423, { closed: 'Monday' }]);
    for (const answer of [file, moved, closed]) expectRateHeaders(answer);
    const gone = await client.send('/v1/visits/1', { method: 'DELETE' });
    expect([gone.status, gone.text]).toEqual([204, '']);
  });

  it('runs global guards, pipes and interceptors after those of the service, on every route', async () => {
    seen.length = 0;
    await client.get('/v1/pets');
    expect(seen).toEqual(['middleware', 'guard', 'pipe', 'interceptor']);
    seen.length = 0;
    expectError(await service.anonymous().get('/v1/pets'), 401, 'missing_api_key');
    expect(seen).toEqual(['middleware']);
    seen.length = 0;
    expect((await client.post('/v1/visits/nothing', { as: 'visitor' })).status).toBe(201);
    expect(seen).toEqual(['middleware', 'guard visitor', 'interceptor']);
    expectError(await client.post('/v1/visits/nothing', { as: 'burglar' }), 403, 'forbidden');
    for (const path of ['/v1/pets/%zz', '/docs/%zz']) {
      expectError(await client.get(path), 400, 'malformed_request');
    }
  });

  it('serves a @Public() controller outside /v1, without key or rate-limit headers', async () => {
    const answer = await service.anonymous().get('/open/shop/7');
    expect(answer.json()).toEqual({ id: '7' });
    expect(headerCounts(answer)).not.toHaveProperty('x-ratelimit-limit');
    expectError(await client.get('/v1/open/shop/7'), 404, 'not_found');
    expectError(await service.anonymous().get('/v1/open/shop/till'), 401, 'missing_api_key');
    expect((await client.get('/v1/open/shop/till')).status).toBe(200);
  });

  it('counts a request once, also with providers per request', async () => {
    const caller = await service.client({ perMinute: 9, perDay: 9 });
    for (const remaining of ['8', '7']) {
      const requestId = `r-${remaining}`;
      const answer = await caller.get('/v1/open/shop/till', { 'x-request-id': requestId });
      expect(answer.json()).toEqual({ requestId });
      expect(answer.headers['x-ratelimit-remaining']).toBe(remaining);
    }
  });
});

@Injectable()
class Envelope implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

describe('a global interceptor', () => {
  class Toy {
    @Exclude()
    price = 7;
    id: bigint;

    constructor(id: number) {
      this.id = BigInt(id);
    }
  }
  @AnyScope()
  @Controller('toys')
  class ToysController {
    @Get()
    @ApiPage(Toy)
    list(@Query() query: PageQuery): Page<Toy> {
      return Page.of([new Toy(1), new Toy(2)], query, ({ id }) => id);
    }
  }
  @Module({
    controllers: [ToysController],
    providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }],
  })
  class SerializingModule {}

  it('serialises responses and pages by class, and leaves those of the service intact', async () => {
    await using service = await startService({ extensions: [{ module: SerializingModule }] });
    const client = await service.client();
    const made = await client.post('/v1/pets', { name: 'Rex', categoryId: 7 });
    expect(made.headers.location).toMatch(/\/v1\/pets\/1$/);
    const pet = { id: 1, name: 'Rex', categoryId: 7 };
    expect(made.json()).toEqual(pet);
    expect((await client.get('/v1/pets')).json()).toEqual([pet]);
    const page = await client.get('/v1/toys?limit=1');
    expect(page.json()).toEqual([{ id: 1 }]);
    expect(page.headers.link).toMatch(/cursor=\w+[^>]*>; rel="next"$/);
  });

  it('wraps responses and pages of the service, which keep Location', async () => {
    @Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: Envelope }] })
    class EnvelopingModule {}
    await using service = await startService({ extensions: [{ module: EnvelopingModule }] });
    const client = await service.client();
    const post = () => client.post('/v1/pets', { name: 'Rex', categoryId: 7 });
    const made = await post();
    await post();
    expect([made.status, made.headers.location]).toEqual([201, expect.stringMatching(/pets\/1$/)]);
    const data = { id: 1, name: 'Rex', categoryId: 7 };
    expect(made.json()).toEqual({ data });
    const page = await client.get('/v1/pets?limit=1');
    expect(page.json()).toEqual({ data: [data] });
    expect(page.headers).not.toHaveProperty('link');
  });
});

it('a route constraint that is not met is a 404, and a wrong method a 405', async () => {
  @AnyScope()
  @Controller('branch')
  class BranchController {
    @Get()
    @RouteConstraints({ host: 'branch.example' })
    show(): object {
      return {};
    }
  }
  @Module({ controllers: [BranchController] })
  class BranchModule {}
  await using service = await startService({ extensions: [{ module: BranchModule }] });
  const client = await service.client();
  expectError(await client.get('/v1/branch'), 404, 'not_found');
  expectError(await client.post('/v1/branch', {}), 405, 'method_not_allowed');
  expectError(await service.anonymous().get('/v1/branch'), 401, 'missing_api_key');
});
