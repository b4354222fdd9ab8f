import {
  Controller,
  Get,
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnModuleInit,
  type Type,
  UseGuards,
  Version,
} from '@nestjs/common';
import { APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyInstance } from 'fastify';
import { AnyScope } from 'pet-store-service';
import type { DataSource } from 'typeorm';
import { startAndClose, startService } from '../support/start-service.js';

const start = (module: Type): Promise<void> => startAndClose({ extensions: [{ module }] });

/** A module of one operation, with one more decorator. */
function moduleWith(decorate: MethodDecorator): Type {
  @AnyScope()
  @Controller('odd')
  class Odd {
    @Get()
    @decorate
    odd(): object {
      return {};
    }
  }
  @Module({ controllers: [Odd] })
  class OddModule {}
  return OddModule;
}

class OwnGuard extends ThrottlerGuard {}

@Module({ providers: [{ provide: APP_GUARD, useClass: OwnGuard }] })
class GuardingModule {}

@Module({ imports: [ThrottlerModule.forRoot([{ name: 'burst', limit: 1, ttl: 1 }])] })
class ThrottlingModule {}

const connection = { type: 'better-sqlite3', database: ':memory:' } as const;

@Module({ imports: [TypeOrmModule.forRoot(connection)] })
class ConnectingModule {}

@Module({})
class MiddlewareModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    const jsonParser = (_request: unknown, _reply: unknown, next: () => void): void => next();
    consumer.apply(jsonParser).forRoutes('*path');
  }
}

@Module({})
class ParserModule implements OnModuleInit {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addContentTypeParser('text/csv', (_request, _payload, done) => done(null));
  }
}

describe('the start stops, and names class and method, on', () => {
  it.each([
    ['@Version()', moduleWith(Version('2')), 'Odd.odd: @Version() is not supported'],
    [
      'a throttler guard of an operation',
      moduleWith(UseGuards(ThrottlerGuard)),
      'Odd.odd: ThrottlerGuard is not supported',
    ],
    ['a global throttler guard', GuardingModule, 'GuardingModule: OwnGuard is not supported'],
    ['a second ThrottlerModule', ThrottlingModule, 'ThrottlerModule is not supported'],
    ['an unnamed connection', ConnectingModule, 'TypeOrmModule.forRoot() without a name is not'],
    ['a parsing middleware', MiddlewareModule, 'MiddlewareModule.configure: jsonParser is not'],
    ['a parser of Fastify', ParserModule, 'ParserModule.onModuleInit: a parser for text/csv is'],
  ])('%s', async (_what, module, message) => {
    await expect(start(module)).rejects.toThrow(message);
  });
});

it('starts with a named connection, which is separate from that of the service', async () => {
  @Module({ imports: [TypeOrmModule.forRoot({ ...connection, name: 'stock' })] })
  class StockModule {}
  await using service = await startService({ extensions: [{ module: StockModule }] });
  expect((await (await service.client()).get('/v1/pets')).status).toBe(200);
  const stock = service.store.app.get<DataSource>(getDataSourceToken('stock'), { strict: false });
  expect(await stock.query('SELECT name FROM sqlite_master')).toEqual([]);
});
