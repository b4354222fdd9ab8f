import { readFileSync } from 'node:fs';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';

@Controller()
class Routes {
  @Get('one')
  one(): object {
    return {};
  }

  @Get('other')
  other(): object {
    return {};
  }
}

@Module({
  imports: [
    ThrottlerModule.forRoot([
      { name: 'minute', limit: 10, ttl: 60_000 },
      { name: 'day', limit: 1, ttl: 86_400_000 },
    ]),
  ],
  controllers: [Routes],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})
class Throttled {}

describe('README.md', () => {
  it("says how Nest's throttler counts: each route, each of its named windows", async () => {
    const text = readFileSync('README.md', 'utf8').replace(/\s+/g, ' ');
    expect(text).toContain(
      'has several named windows, but by default counts each route and each window separately: ' +
        'a request that one window rejects may already be counted in another.',
    );
    const adapter = new FastifyAdapter();
    const options = { logger: false } as const;
    const app = await NestFactory.create<NestFastifyApplication>(Throttled, adapter, options);
    await app.init();
    const get = async (url: string) => {
      const { statusCode, headers } = await app.inject({ method: 'GET', url });
      return [statusCode, Number(headers['x-ratelimit-remaining-minute'])];
    };
    expect(await get('/one')).toEqual([200, 9]);
    expect(await get('/one')).toEqual([429, 8]);
    expect(await get('/other')).toEqual([200, 9]);
    await app.close();
  });
});
