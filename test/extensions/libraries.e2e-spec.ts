import { Writable } from 'node:stream';
import { CacheInterceptor, CacheModule } from '@nestjs/cache-manager';
import { Controller, Get, Module, Query, UseInterceptors } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  TerminusModule,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { ClsModule, ClsService } from 'nestjs-cls';
import { LoggerModule, PinoLogger } from 'nestjs-pino';
import { AnyScope, Public } from 'pet-store-service';
import { FakeClock } from '../support/clock.js';
import { useService } from '../support/start-service.js';

/** The lines that nestjs-pino writes. */
const lines: Record<string, unknown>[] = [];
const stream = new Writable({
  write(chunk: Buffer, _encoding, done) {
    lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
    done();
  },
});

@AnyScope()
@Controller('toys')
class ToysController {
  private counted = 0;

  constructor(
    private readonly cls: ClsService,
    private readonly logger: PinoLogger,
  ) {}

  @Get('context')
  async context(): Promise<object> {
    await Promise.resolve();
    return { id: this.cls.getId(), tenant: this.cls.get<string>('tenant') };
  }

  @Get('logged')
  async logged(): Promise<object> {
    await Promise.resolve();
    this.logger.info({ toy: 'ball' }, 'Toy looked at');
    return {};
  }

  @Get('cached')
  @UseInterceptors(CacheInterceptor)
  cached(@Query('kind') kind?: string): object {
    return { id: 9223372036854775807n, counted: ++this.counted, kind };
  }
}

@Public()
@Controller('status')
class StatusController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.database.pingCheck('database')]);
  }
}

@Module({
  imports: [
    ClsModule.forRoot({
      middleware: {
        mount: true,
        generateId: true,
        idGenerator: ({ headers }: { headers: Record<string, string> }) => headers['x-request-id']!,
        setup: (cls, { headers }: { headers: Record<string, string> }) =>
          cls.set('tenant', headers['x-tenant']),
      },
    }),
    LoggerModule.forRoot({
      pinoHttp: [{ genReqId: ({ headers }) => headers['x-request-id']! }, stream],
    }),
    TerminusModule,
    CacheModule.register(),
  ],
  controllers: [ToysController, StatusController],
})
class LibrariesModule {}

describe('an extension with libraries of Nest', () => {
  const { service, client } = useService({
    clock: new FakeClock(),
    extensions: [{ module: LibrariesModule }],
  });

  it('gives each request its own context of nestjs-cls', async () => {
    const requests = ['a', 'b', 'c'].map(async (tenant) => {
      const headers = { 'x-request-id': `r-${tenant}`, 'x-tenant': tenant };
      return (await client.get('/v1/toys/context', headers)).json();
    });
    expect(await Promise.all(requests)).toEqual([
      { id: 'r-a', tenant: 'a' },
      { id: 'r-b', tenant: 'b' },
      { id: 'r-c', tenant: 'c' },
    ]);
  });

  it('logs each request with nestjs-pino', async () => {
    lines.length = 0;
    await client.get('/v1/toys/logged', { 'x-request-id': 'r-9' });
    const req = expect.objectContaining({ id: 'r-9', url: '/v1/toys/logged' });
    expect(lines).toMatchObject([
      { msg: 'Toy looked at', toy: 'ball', req },
      { msg: 'request completed', req, res: { statusCode: 200 } },
    ]);
  });

  it('serves the health check of @nestjs/terminus without a key', async () => {
    const answer = await service.anonymous().get('/status');
    expect([answer.status, answer.json().details]).toMatchObject([
      200,
      { database: { status: 'up' } },
    ]);
  });

  it('responds from the cache of @nestjs/cache-manager, and counts these requests too', async () => {
    const caller = await service.client({ perMinute: 9, perDay: 9 });
    const answers = [];
    for (const path of ['cached', 'cached', 'cached?kind=ball']) {
      answers.push(await caller.get(`/v1/toys/${path}`));
    }
    expect(answers.map(({ text }) => text)).toEqual([
      '{"id":9223372036854775807,"counted":1}',
      '{"id":9223372036854775807,"counted":1}',
      '{"id":9223372036854775807,"counted":2,"kind":"ball"}',
    ]);
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['8', '7', '6']);
  });
});
