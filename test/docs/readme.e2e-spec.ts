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

type Entry = { id: string; perSecond: number };
type Work = { work: string; entries: Entry[] };

describe('README.md', () => {
  const README = readFileSync('README.md', 'utf8');

  it('is at most 90 lines long', () => {
    expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(90);
  });

  it('has the figure of docs/performance.json', () => {
    const { parts } = JSON.parse(readFileSync('docs/performance.json', 'utf8')) as {
      parts: Record<'sqlite' | 'postgres', Work[]>;
    };
    const ratios = [...parts.sqlite, ...parts.postgres].map(({ entries }) => {
      const of = (id: string) => entries.find((entry) => entry.id === id)!.perSecond;
      return of('service') / of('tutorial');
    });
    const [least, most] = [Math.min, Math.max].map((bound) => Math.floor(bound(...ratios)));
    expect(README).toContain(`**${least} to ${most} times as many requests a second**`);
  });

  it("says how Nest's throttler counts: each route, each of its named windows", async () => {
    const text = README.replace(/\s+/g, ' ');
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
