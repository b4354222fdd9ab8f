import {
  All,
  Controller,
  type DynamicModule,
  Get,
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnModuleInit,
  SetMetadata,
  type Type,
  UseGuards,
  Version,
} from '@nestjs/common';
import { APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { ApiOperation } from '@nestjs/swagger';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyInstance } from 'fastify';
import { AnyScope, ApiErrors, Public, RequireScope } from 'pet-store-service';
import type { DataSource } from 'typeorm';
import { startAdminService } from '../support/admin.js';
import { startAndClose, startService } from '../support/start-service.js';

const start = (module: Type): Promise<void> =>
  startAndClose({ extensions: [{ name: 'toys', module }] });

/** A module of one operation at a path, whose class is called Toys. */
function moduleAt(
  path: string,
  decorateClass: ClassDecorator,
  decorateMethod: MethodDecorator = () => undefined,
  method: (path?: string) => MethodDecorator = Get,
): Type {
  @Controller(path)
  @decorateClass
  class Toys {
    @method()
    @decorateMethod
    list(): object {
      return {};
    }
  }
  @Module({ controllers: [Toys] })
  class ToysModule {}
  return ToysModule;
}

const both = (...imports: Type[]): Type => {
  class BothModule {}
  Module({ imports })(BothModule);
  return BothModule;
};

class OwnGuard extends ThrottlerGuard {}

@Module({ providers: [{ provide: APP_GUARD, useClass: OwnGuard }] })
class GuardingModule {}

@Module({ imports: [ThrottlerModule.forRoot([{ name: 'burst', limit: 1, ttl: 1 }])] })
class ThrottlingModule {}

const connection = { type: 'better-sqlite3', database: ':memory:' } as const;

@Module({ imports: [TypeOrmModule.forRoot(connection)] })
class ConnectingModule {}

/** As the decorator of @nestjs/websockets marks a class. */
const WebSocketGateway = () => SetMetadata('websockets:is_gateway', true);
@WebSocketGateway()
class ToysGateway {}
@Module({ providers: [ToysGateway] })
class GatewayModule {}

/** Like the module of @nestjs/graphql. */
@Module({})
class GraphQLModule {
  static forRoot(): DynamicModule {
    return { module: GraphQLModule };
  }
}
@Module({ imports: [GraphQLModule.forRoot()] })
class QueryModule {}

/** A module that uses Fastify itself when it starts. */
function moduleWith(init: (fastify: FastifyInstance) => unknown): Type {
  @Module({})
  class InitModule implements OnModuleInit {
    constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

    onModuleInit(): unknown {
      return init(this.host.httpAdapter.getInstance<FastifyInstance>());
    }
  }
  return InitModule;
}

const any = AnyScope();
const none: ClassDecorator = () => undefined;
const named = (operationId: string) => ApiOperation({ operationId });

describe('the start stops with one line that names class and method, on', () => {
  it.each<[string, Type, string | RegExp]>([
    [
      'an operation without scopes',
      moduleAt('toys', none),
      'Toys.list has neither @RequireScope(...) nor @AnyScope()',
    ],
    [
      'an undeclared scope',
      moduleAt('toys', RequireScope('toys:read')),
      'Toys.list requires the scope toys:read, which no extension declares',
    ],
    [
      'an undeclared error code',
      moduleAt('toys', any, ApiErrors('pet_not_found', 'toy_broken')),
      'Toys.list documents the error toy_broken, which no extension declares',
    ],
    [
      'an operation of the service that is declared again',
      moduleAt('pets/:toyId', any),
      /^GET \/pets\/:id is declared twice: by \w+\.\w+ and by \w+\.\w+$/,
    ],
    [
      'an operation that @All() declares as well',
      both(moduleAt('toys', any, undefined, All), moduleAt('toys', any, named('listToys'))),
      /already declared for route '\/v1\/toys'/,
    ],
    [
      'an operation that is declared with and without @Public()',
      both(moduleAt('toys', any), moduleAt('toys', Public(), named('showToys'))),
      'GET /toys is declared twice: by Toys.list and by Toys.list',
    ],
    [
      'two operations with one name',
      both(moduleAt('toys', any), moduleAt('games', any)),
      'operationId list is declared twice: by Toys.list and by Toys.list',
    ],
    [
      'an operation with the name of one of the service',
      moduleAt('toys', any, named('listPets')),
      'operationId listPets is declared twice: by PetsController.listPets and by Toys.list',
    ],
    [
      'a @Public() operation under /v1',
      moduleAt('v1/toys', Public()),
      'Toys.list: its path begins with v1',
    ],
    ...[':id(\\d+)', ':id?', '{:id}', ':id+', ':id_:size', 'a+b', ':', ':1', '*/b', 'x*'].map(
      (path): [string, Type, string] => [
        `the path ${path}`,
        moduleAt(path, any),
        `Toys.list: the path /${path} is not supported; end each :name at /, - or .`,
      ],
    ),
    ['@Version()', moduleAt('odd', any, Version('2')), 'Toys.list: @Version() is not supported'],
    [
      'a throttler guard of an operation',
      moduleAt('odd', any, UseGuards(ThrottlerGuard)),
      'Toys.list: ThrottlerGuard is not supported',
    ],
    ['a global throttler guard', GuardingModule, 'GuardingModule: OwnGuard is not supported'],
    ['a second ThrottlerModule', ThrottlingModule, 'ThrottlerModule is not supported'],
    [
      'an unnamed connection',
      ConnectingModule,
      'TypeOrmModule.forRoot() without a name would replace',
    ],
    ['@WebSocketGateway()', GatewayModule, 'ToysGateway: @WebSocketGateway() is not supported'],
    ['GraphQLModule', QueryModule, 'QueryModule: GraphQLModule is not supported'],
    ['an error of onModuleInit', moduleWith(() => Promise.reject(new Error('no toys'))), 'no toys'],
    [
      'an error of a plugin',
      moduleWith((fastify) => void fastify.register((_, __, done) => done(new Error('no toys')))),
      'no toys',
    ],
  ])('%s', async (_what, module, message) => {
    await expect(start(module)).rejects.toThrow(message);
  });
});

it('starts with an operation that has the name of one of the admin API', async () => {
  const module = moduleAt('toys', any, named('adminListKeys'));
  const { service } = await startAdminService({ extensions: [{ module }] });
  await service.close();
});

it('starts with a named connection, which is separate from that of the service', async () => {
  @Module({ imports: [TypeOrmModule.forRoot({ ...connection, name: 'stock' })] })
  class StockModule {}
  await using service = await startService({ extensions: [{ module: StockModule }] });
  expect((await (await service.client()).get('/v1/pets')).status).toBe(200);
  const stock = service.store.app.get<DataSource>(getDataSourceToken('stock'), { strict: false });
  expect(await stock.query('SELECT name FROM sqlite_master')).toEqual([]);
});

it('warns of no route of the service if an extension has a middleware', async () => {
  @Module({})
  class PlainModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer
        .apply((_request: unknown, _reply: unknown, next: () => void) => next())
        .forRoutes('*path');
    }
  }
  const warn = jest.fn();
  const ignore = () => undefined;
  const others = { fatal: ignore, error: ignore, info: ignore, debug: ignore, flush: ignore };
  const extensions = [{ module: PlainModule }];
  await startAndClose({ extensions, logger: { ...others, warn } });
  expect(warn).not.toHaveBeenCalled();
});
