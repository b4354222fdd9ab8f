import {
  Controller,
  Get,
  type MessageEvent,
  type MiddlewareConsumer,
  Module,
  Param,
  Sse,
  Version,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { SkipThrottle, Throttle } from '@nestjs/throttler';
import { map, NEVER, type Observable } from 'rxjs';
import { AnyScope, Public } from '../../src/index.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders, headerCounts } from '../support/expectations.js';
import { VisitsController } from '../support/ordinary-guest.js';
import { startService } from '../support/start-service.js';

@Public()
@Controller('open/shop')
class ShopController {
  @Get(':id')
  item(@Param('id') id: string): object {
    return { id };
  }
}

@AnyScope()
@Controller('open/shop')
class ClosedController {
  @Get('till')
  till(): object {
    return {};
  }
}

@AnyScope()
@Controller('limited')
class LimitedController {
  @Get()
  @Throttle({ default: { limit: 2, ttl: 7_000 } })
  few(): object {
    return {};
  }

  @Get('free')
  @SkipThrottle()
  free(): object {
    return {};
  }
}

const seen: string[] = [];

@Module({
  controllers: [VisitsController, ShopController, ClosedController, LimitedController],
  providers: [
    {
      provide: APP_GUARD,
      useValue: { canActivate: () => (seen.push('guard'), true) },
    },
    {
      provide: APP_INTERCEPTOR,
      useValue: {
        intercept: (_context: unknown, next: { handle(): Observable<unknown> }) =>
          next.handle().pipe(map((data) => (seen.push('interceptor'), data))),
      },
    },
  ],
})
class GuestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: unknown, _reply: unknown, next: () => void) => {
        seen.push('middleware');
        next();
      })
      .forRoutes('*path');
  }
}

const start = (clock = new FakeClock()) =>
  startService({ extensions: [{ module: GuestModule }], clock });

describe("a guest's ordinary code", () => {
  it('answers with the status, headers and body that its decorators say', async () => {
    await using service = await start();
    const client = await service.client();
    const conflict = await client.get('/v1/visits/conflict');
    expectError(conflict, 409, 'conflict');
    expectRateHeaders(conflict);
    expect(conflict.json().message).toBe('Already visited');
    expectError(await client.get('/v1/visits/coded'), 404, 'visit_not_found');
    expect((await client.get('/v1/visits/wrapped')).json()).toEqual({ data: { inside: true } });
    const file = await client.get('/v1/visits/file');
    expect([file.text, file.headers['content-type']]).toEqual(['woof', 'text/plain']);
    expectRateHeaders(file);
    const passed = await client.get('/v1/visits/passthrough');
    expect(passed).toMatchObject({ status: 203, headers: { 'x-kept': 'yes', 'x-own': 'yes' } });
    const moved = await client.get('/v1/visits/moved');
    expect(moved).toMatchObject({ status: 301, headers: { location: '/v1/visits/page' } });
    expectRateHeaders(moved);
    const gone = await client.send('/v1/visits/1', { method: 'DELETE' });
    expect([gone.status, gone.text]).toEqual([204, '']);
  });

  it('has its own guards, interceptors and middleware run after ours, on every route', async () => {
    await using service = await start();
    const client = await service.client();
    seen.length = 0;
    await client.get('/v1/pets');
    expect(seen).toEqual(['middleware', 'guard', 'interceptor']);
    seen.length = 0;
    expectError(await service.anonymous().get('/v1/pets'), 401, 'missing_api_key');
    expect(seen).not.toContain('guard');
  });

  it('is outside /v1, without key or rate headers, where it is @Public(), and only there', async () => {
    await using service = await start();
    const answer = await service.anonymous().get('/open/shop/7');
    expect(answer.json()).toEqual({ id: '7' });
    expect(headerCounts(answer)).not.toHaveProperty('x-ratelimit-limit');
    expectError(await (await service.client()).get('/v1/open/shop/7'), 404, 'not_found');
    expectError(await service.anonymous().get('/v1/open/shop/till'), 401, 'missing_api_key');
    expect((await (await service.client()).get('/v1/open/shop/till')).status).toBe(200);
  });

  it('has the limit of @Throttle() for each caller, beside the plan of which a refusal takes nothing', async () => {
    const clock = new FakeClock();
    await using service = await start(clock);
    const client = await service.client();
    const other = await service.client();
    const left = async () =>
      Number((await client.get('/v1/visits/page')).headers['x-ratelimit-remaining']);
    expect((await client.get('/v1/limited')).status).toBe(200);
    expect((await client.get('/v1/limited')).status).toBe(200);
    const before = await left();
    for (let time = 0; time < 150; time++) {
      const refused = await client.get('/v1/limited');
      expectError(refused, 429, 'rate_limit_exceeded');
      expectRateHeaders(refused);
      const end = (Math.floor(clock.now() / 7_000) + 1) * 7_000;
      const seconds = Math.max(1, Math.ceil((end - clock.now()) / 1000));
      expect(refused.headers['retry-after']).toBe(String(seconds));
    }
    expect(await left()).toBe(before - 1);
    expect((await other.get('/v1/limited')).status).toBe(200);
    clock.advance(7_000);
    expect((await client.get('/v1/limited')).status).toBe(200);
  });

  it('takes no quota where it says @SkipThrottle(), and keeps the headers', async () => {
    await using service = await start();
    const client = await service.client({ perMinute: 2, perDay: 2 });
    for (let time = 0; time < 3; time++) {
      const free = await client.get('/v1/limited/free');
      expect(free.status).toBe(200);
      expectRateHeaders(free);
      expect(free.headers['x-ratelimit-remaining']).toBe('2');
    }
  });

  it.each([
    ['@Sse()', Sse(), 'Odd.odd: @Sse() is not supported'],
    ['@Version()', Version('2'), 'Odd.odd: @Version() is not supported'],
    [
      'a throttler of another name',
      Throttle({ burst: { limit: 1, ttl: 1 } }),
      'Odd.odd: there is no throttler "burst"',
    ],
    ['skipping one', SkipThrottle({ burst: true }), 'Odd.odd: there is no throttler "burst"'],
    [
      'a block of its own',
      Throttle({ default: { limit: 1, ttl: 1, blockDuration: 9 } }),
      'Odd.odd: @Throttle() takes',
    ],
  ])('stops the start where it asks for %s', async (_what, decorator, message) => {
    class Odd {
      odd(): Observable<MessageEvent> {
        return NEVER;
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Odd.prototype, 'odd')!;
    Get('odd')(Odd.prototype, 'odd', descriptor);
    decorator(Odd.prototype, 'odd', descriptor);
    Controller('odd')(Odd);
    class OddModule {}
    Module({ controllers: [Odd] })(OddModule);
    await expect(startService({ extensions: [{ module: OddModule }] })).rejects.toThrow(message);
  });
});
