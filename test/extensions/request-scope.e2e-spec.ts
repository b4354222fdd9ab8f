import {
  BadRequestException,
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Scope,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AnyScope } from 'pet-store-service';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService } from '../support/start-service.js';

/** From Nest's documentation of request scope. */
@Injectable({ scope: Scope.REQUEST })
class Tenant {
  readonly name: string;

  constructor(@Inject(REQUEST) request: FastifyRequest) {
    const tenant = request.headers['x-tenant'];
    if (typeof tenant !== 'string') throw new BadRequestException('No tenant');
    this.name = tenant;
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
}

@Module({ controllers: [TenantsController], providers: [Tenant] })
class TenantsModule {}

it('serves providers that are made for each request, and counts each request once', async () => {
  await using service = await startService({ extensions: [{ module: TenantsModule }] });
  const caller = await service.client({ perMinute: 3, perDay: 9 });
  const ann = { 'x-tenant': 'Ann' };
  const answer = await caller.get('/v1/tenants', ann);
  expect([answer.json(), answer.headers['x-ratelimit-remaining']]).toEqual([{ name: 'Ann' }, '2']);
  expectRateHeaders(answer);
  expectError(await service.anonymous().get('/v1/tenants', ann), 401, 'missing_api_key');
  expectError(await caller.get('/v1/tenants'), 400, 'invalid_request');
});
