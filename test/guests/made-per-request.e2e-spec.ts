import {
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  Scope,
  UseFilters,
} from '@nestjs/common';
import { APP_INTERCEPTOR, REQUEST } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnyScope, Public } from 'pet-store-service';
import type { Observable } from 'rxjs';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders, headerCounts } from '../support/expectations.js';
import { startService } from '../support/start-service.js';

const made: unknown[] = [];

/** As in Nest's documentation of request scope. */
@Injectable({ scope: Scope.REQUEST })
class Tenant {
  readonly name: string;

  constructor(@Inject(REQUEST) request: FastifyRequest) {
    made.push(request.body);
    const tenant = request.headers['x-tenant'];
    if (typeof tenant !== 'string') throw new BadRequestException('No tenant');
    this.name = tenant;
  }
}

@Catch()
class OwnWay implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().code(418).send({ own: true });
  }
}

@AnyScope()
@Controller('tenants')
class TenantsController {
  constructor(private readonly tenant: Tenant) {}

  @Get()
  name(): { name: string } {
    return { name: this.tenant.name };
  }

  @Get('own')
  @UseFilters(OwnWay)
  own(): { name: string } {
    return this.name();
  }

  @Post()
  add(): { name: string } {
    return this.name();
  }

  @Get(':place')
  there(): { name: string } {
    return this.name();
  }
}

@Public()
@Controller('open')
class OpenController {
  constructor(private readonly tenant: Tenant) {}

  @Get()
  name(): { name: string } {
    return { name: this.tenant.name };
  }
}

@Module({ controllers: [TenantsController, OpenController], providers: [Tenant] })
class TenantsModule {}

@Injectable({ scope: Scope.REQUEST })
class ForTenants implements NestInterceptor {
  constructor(readonly tenant: Tenant) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Module({ providers: [Tenant, { provide: APP_INTERCEPTOR, useClass: ForTenants }] })
class EverywhereModule {}

const ann = { 'x-tenant': 'Ann' };

describe('a guest whose providers are made for each request', () => {
  it('makes none for a caller whose key or quota is refused, who is told so with the headers', async () => {
    await using service = await startService({
      extensions: [{ module: TenantsModule }],
      clock: new FakeClock(),
    });
    made.length = 0;
    for (const path of ['tenants', 'tenants/own']) {
      const unknown = await service.anonymous().get(`/v1/${path}`);
      expectError(unknown, 401, 'missing_api_key');
      expectRateHeaders(unknown);
    }
    const caller = await service.client({ perMinute: 2, perDay: 2 });
    const bad = await caller.get('/v1/tenants');
    expectError(bad, 400, 'invalid_request');
    expectRateHeaders(bad);
    expect(bad.json().message).toBe('No tenant');
    expect(bad.headers['x-ratelimit-remaining']).toBe('1');
    expect((await caller.get('/v1/tenants/own')).json()).toEqual({ own: true });
    expect(made).toHaveLength(2);
    expectError(await caller.get('/v1/tenants/own'), 429, 'rate_limit_exceeded');
    expectError(await caller.get('/v1/tenants'), 429, 'rate_limit_exceeded');
    expect(made).toHaveLength(2);
  });

  it('has failed authentication counted against the address', async () => {
    const env = { FAILED_AUTH_PER_MINUTE: '3' };
    await using service = await startService({
      extensions: [{ module: TenantsModule }],
      clock: new FakeClock(),
      env,
    });
    for (let time = 0; time < 3; time++)
      expect((await service.anonymous().get('/v1/tenants')).status).toBe(401);
    expectError(await service.anonymous().get('/v1/tenants'), 429, 'rate_limit_exceeded');
  });

  it('has each request counted once, and answered as elsewhere', async () => {
    await using service = await startService({
      extensions: [{ module: TenantsModule }],
      clock: new FakeClock(),
    });
    const caller = await service.client({ perMinute: 9, perDay: 9 });
    for (const method of ['GET', 'HEAD']) {
      const answer = await caller.send('/v1/tenants', { method, headers: ann });
      expect(answer.status).toBe(200);
      expectRateHeaders(answer);
    }
    // No place, and so no such path.
    expectError(await caller.get('/v1/tenants/', ann), 404, 'not_found');
    const last = await caller.get('/v1/tenants/here', ann);
    expect(last.json()).toEqual({ name: 'Ann' });
    expect(last.headers['x-ratelimit-remaining']).toBe('5');
  });

  it('finds the body on the request when they are made', async () => {
    await using service = await startService({ extensions: [{ module: TenantsModule }] });
    const client = await service.client();
    made.length = 0;
    expect((await client.post('/v1/tenants', { a: 1 }, ann)).status).toBe(201);
    expect(made).toEqual([{ a: 1 }]);
    expectError(await client.post('/v1/tenants', '{', ann), 400, 'malformed_json');
    const text = { ...ann, 'content-type': 'text/plain' };
    expect((await client.post('/v1/tenants', 'no json', text)).status).toBe(201);
  });

  it('is asked by anybody where it is public, without rate headers', async () => {
    await using service = await startService({ extensions: [{ module: TenantsModule }] });
    const anyone = service.anonymous();
    expect((await anyone.get('/open', ann)).json()).toEqual({ name: 'Ann' });
    const bad = await anyone.get('/open');
    expectError(bad, 400, 'invalid_request');
    expect(headerCounts(bad)).not.toHaveProperty('x-ratelimit-limit');
  });

  it('comes behind the key on every path where it concerns all of them', async () => {
    await using service = await startService({ extensions: [{ module: EverywhereModule }] });
    const client = await service.client();
    for (const path of ['pets', 'pets/7', 'usage', 'nowhere']) {
      const unknown = await service.anonymous().get(`/v1/${path}`);
      expectError(unknown, 401, 'missing_api_key');
      expectRateHeaders(unknown);
      const bad = await client.get(`/v1/${path}`);
      expectError(bad, 400, 'invalid_request');
      expectRateHeaders(bad);
    }
    expect((await client.post('/v1/pets', { name: 'Rex', categoryId: 7 }, ann)).status).toBe(201);
    expectError(await client.get('/v1/nowhere', ann), 404, 'not_found');
  });
});
