import { Controller, Get, Module } from '@nestjs/common';
import { SkipThrottle, Throttle } from '@nestjs/throttler';
import { AnyScope, defineExtension, RequireScope } from 'pet-store-service';
import type { Answer, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

const WINDOW_MS = 7_000;

@AnyScope()
@Controller('limited')
class LimitedController {
  @Get()
  @Throttle({ default: { limit: 2, ttl: WINDOW_MS } })
  few(): object {
    return {};
  }

  @Get('free')
  @SkipThrottle()
  free(): object {
    return {};
  }

  @Get('write')
  @SkipThrottle()
  @RequireScope('pets:write')
  write(): object {
    return {};
  }
}

@AnyScope()
@Controller('probes')
@SkipThrottle()
@Throttle({ default: { limit: 1, ttl: WINDOW_MS } })
class ProbesController {
  @Get()
  cheap(): object {
    return {};
  }

  @Get('costly')
  @SkipThrottle({ default: false })
  costly(): object {
    return {};
  }

  @Get('dear')
  @SkipThrottle({ default: false })
  dear(): object {
    return {};
  }
}

@Module({ controllers: [LimitedController, ProbesController] })
class ThrottledModule {}

const throttled = defineExtension({
  name: 'throttled',
  compatibility: '^1.0.0',
  module: ThrottledModule,
});

describe('decorators of the throttler', () => {
  const clock = new FakeClock();
  const { service } = useService({ extensions: [throttled], clock });
  const left = ({ headers }: Answer): string => String(headers['x-ratelimit-remaining']);
  const limited = (perMinute: number, perDay = 10_000): Promise<Client> =>
    service.client({ plan: 'enterprise', perMinute, perDay });

  it('@Throttle() limits each caller after the plan, and its rejections consume quota', async () => {
    const [caller, other] = [await limited(200), await limited(200)];
    for (let used = 1; used <= 152; used++) {
      const answer = await caller.get('/v1/limited');
      expectRateHeaders(answer);
      expect([answer.headers['x-ratelimit-limit'], left(answer)]).toEqual([
        '200',
        String(200 - used),
      ]);
      if (used <= 2) {
        expect(answer.status).toBe(200);
        continue;
      }
      expectError(answer, 429, 'rate_limit_exceeded');
      const untilWindowEndsMs = WINDOW_MS - (clock.now() % WINDOW_MS);
      const seconds = String(Math.ceil(untilWindowEndsMs / 1000));
      expect(answer.headers['retry-after']).toBe(seconds);
    }
    // More than 100 rejections by the plan would have banned the key.
    expect((await caller.get('/v1/pets')).status).toBe(200);
    expect((await other.get('/v1/limited')).status).toBe(200);
  });

  it('@Throttle() opens its windows at multiples of their length, not before', async () => {
    const caller = await limited(200);
    const statuses = async (): Promise<number[]> => {
      const answers = [];
      for (let request = 0; request < 3; request++) answers.push(await caller.get('/v1/limited'));
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 429]);
    clock.advance(WINDOW_MS - (clock.now() % WINDOW_MS) - 1);
    expect(await statuses()).toEqual([429, 429, 429]);
    clock.advance(1);
    expect(await statuses()).toEqual([200, 200, 429]);
    clock.advance(WINDOW_MS);
    expect(await statuses()).toEqual([200, 200, 429]);
  });

  it('@Throttle() does not count a request that the plan rejects', async () => {
    // The end of a minute, within one window of 7 s.
    clock.set('2026-06-15T16:00:58Z');
    const caller = await limited(1);
    const answers = [];
    for (let request = 0; request < 5; request++) answers.push(await caller.get('/v1/limited'));
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 429, 429, 429]);
    clock.advance(2_000);
    expect((await caller.get('/v1/limited')).status).toBe(200);
  });

  it('@Throttle() of a class limits each of its operations', async () => {
    const caller = await limited(200);
    for (const path of ['/v1/probes/costly', '/v1/probes/dear']) {
      expect((await caller.get(path)).status).toBe(200);
      expectError(await caller.get(path), 429, 'rate_limit_exceeded');
    }
  });

  it('@SkipThrottle() consumes no quota, but sends headers and requires scopes', async () => {
    const limits = { plan: 'enterprise', perMinute: 3, perDay: 10 };
    const caller = await service.client({ ...limits, scopes: ['pets:read'] });
    for (const path of ['/v1/limited/free', '/v1/probes', '/v1/limited/free', '/v1/probes']) {
      const answer = await caller.get(path);
      expectRateHeaders(answer);
      expect([answer.status, left(answer)]).toEqual([200, '3']);
    }
    expectError(await caller.get('/v1/limited/write'), 403, 'insufficient_scope');
    const counted = await caller.get('/v1/probes/costly');
    expect([counted.status, left(counted)]).toEqual([200, '2']);
  });
});
