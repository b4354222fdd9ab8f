import {
  type ArgumentMetadata,
  Body,
  Controller,
  Get,
  Module,
  Post,
  Query,
  StandardSchemaValidationPipe,
  type Type as ModuleClass,
  UnprocessableEntityException,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { Expose, Transform, Type } from 'class-transformer';
import { IsArray, IsInt, IsString, IsUUID, Min, ValidateNested } from 'class-validator';
import { AnyScope, defineExtension, PageQuery } from 'pet-store-service';
import { z } from 'zod';
import type { Client } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

class Gift {
  @IsString()
  toy!: string;
}
class Treat extends Gift {
  @IsInt()
  grams!: number;
}

class Order {
  @Expose({ name: 'first_name' })
  @IsString()
  firstName!: string;

  @Transform(({ value }: { value: string }) => value.split(','))
  @IsArray()
  tags!: string[];

  @Transform(({ value }: { value: number }) => value * 100)
  @IsInt()
  cents!: number;

  @ValidateNested()
  @Type(() => Gift, {
    discriminator: { property: 'kind', subTypes: [{ name: 'treat', value: Treat }] },
  })
  gift!: Gift;
}

class Paging extends PageQuery {
  @Transform(({ value }: { value: string }) => value.split(','))
  @IsArray()
  tags!: string[];
}

const told = (order: Order): object => ({
  order,
  isOrder: order instanceof Order,
  isTreat: order.gift instanceof Treat,
});

@AnyScope()
@Controller('orders')
class OrdersController {
  @Post('global')
  global(@Body() order: Order): object {
    return told(order);
  }

  @Post('method')
  @UsePipes(new ValidationPipe({ transform: true, whitelist: true }))
  method(@Body() order: Order): object {
    return told(order);
  }

  @Post('parameter')
  parameter(@Body(ValidationPipe) order: Order): object {
    return told(order);
  }

  @Post('paged')
  paged(@Query() { limit, tags }: Paging): object {
    return { limit, tags };
  }
}

@Module({ controllers: [OrdersController] })
class OrdersModule {}

const extensionOf = (module: ModuleClass) =>
  defineExtension({ name: 'guest', compatibility: '^1.0.0', module });
const startWith = (module: ModuleClass): Promise<TestService> =>
  startService({ extensions: [extensionOf(module)] });

const orders = (pipe?: ValidationPipe) => {
  @Module({
    imports: [OrdersModule],
    providers: pipe ? [{ provide: APP_PIPE, useValue: pipe }] : [],
  })
  class GuestModule {}
  return extensionOf(GuestModule);
};

const sent = {
  first_name: 'Ann',
  tags: 'a,b',
  cents: 5,
  gift: { kind: 'treat', toy: 'bone', grams: 1 },
};
const made = {
  order: { firstName: 'Ann', tags: ['a', 'b'], cents: 500, gift: { toy: 'bone', grams: 1 } },
  ...{ isOrder: true, isTreat: true },
};

const OPERATIONS = ['global', 'method', 'parameter'];

describe.each<[string, ValidationPipe | undefined, string[]]>([
  ['none for all', undefined, OPERATIONS],
  ['one for all', new ValidationPipe(), OPERATIONS],
  // Of two that transform each one does, as in Nest.
  ['one for all that transforms', new ValidationPipe({ transform: true }), ['global']],
])('a guest with a ValidationPipe of its own, and %s', (_what, pipe, operations) => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startService({ extensions: [orders(pipe)] });
    client = await service.client();
  });
  afterAll(() => service?.close());

  it.each(operations)(
    'is given what its transformations make of what was sent, once: %s',
    async (path) => {
      const answer = await client.post(`/v1/orders/${path}`, sent);
      expect([answer.status, answer.json()]).toEqual([201, made]);
    },
  );

  it('is given a query likewise', async () => {
    const answer = await client.post('/v1/orders/paged?limit=3&tags=a,b', undefined);
    expect(answer.json()).toEqual({ limit: 3, tags: ['a', 'b'] });
  });

  it('still has undeclared members and faults refused', async () => {
    const path = '/v1/orders/global';
    expectError(await client.post(path, { ...sent, admin: true }), 400, 'invalid_request');
    expectError(await client.post(path, { ...sent, cents: 'x' }), 400, 'invalid_request');
  });

  it('leaves our own operations as they are', async () => {
    for (const name of ['Rex', 'Tom', 'Ben']) {
      expect(
        (await client.post('/v1/pets', { name, categoryId: 7, status: 'available' })).status,
      ).toBe(201);
    }
    const page = await client.get('/v1/pets?limit=2&status=available');
    expect(page.json()).toHaveLength(2);
    const [, next] = /<[^>]+(\/v1[^>]+)>; rel="next"/.exec(page.headers['link'] as string)!;
    expect((await client.get(next!)).json()).toHaveLength(1);
  });
});

class Listing {
  @IsInt({ always: true })
  @Min(1, { always: true })
  page?: number;
}

class Profile {
  @IsUUID(undefined, { groups: ['update'] })
  id?: string;

  @IsString({ always: true })
  name!: string;
}

const Visit = z.object({ at: z.string().transform((text) => new Date(text)) });

@AnyScope()
@Controller('profiles')
class ProfilesController {
  @Get()
  list(@Query() { page }: Listing): object {
    return { page };
  }

  @Post()
  add(@Body(new ValidationPipe({ groups: ['create'] })) { name }: Profile): object {
    return { name };
  }

  @Post('changes')
  change(@Body() { name }: Profile): object {
    return { name };
  }

  @Get('paged')
  paged(@Query() { limit }: PageQuery): object {
    return { limit };
  }

  @Post('visits')
  visit(@Body({ schema: Visit }) { at }: { at: unknown }): object {
    return { isDate: at instanceof Date };
  }
}

@Module({
  controllers: [ProfilesController],
  providers: [
    { provide: APP_PIPE, useClass: StandardSchemaValidationPipe },
    {
      provide: APP_PIPE,
      useValue: new ValidationPipe({
        transform: true,
        transformOptions: { enableImplicitConversion: true },
        groups: ['update'],
        exceptionFactory: (faults) => new UnprocessableEntityException(`${faults.length} wrong`),
      }),
    },
  ],
})
class ProfilesModule {}

describe('the options of a guest’s validating pipes', () => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startWith(ProfilesModule);
    client = await service.client();
  });
  afterAll(() => service?.close());

  it('convert as they say', async () => {
    expect((await client.get('/v1/profiles?page=2')).json()).toEqual({ page: 2 });
  });

  it('choose the groups whose rules are asked, and the error', async () => {
    const wrong = { id: 'x', name: 'Ann' };
    const refused = await client.post('/v1/profiles/changes', wrong);
    expectError(refused, 422, 'unprocessable_content');
    expect(refused.json()).toMatchObject({ message: '1 wrong' });
    // Of two that judge one parameter each does, as in Nest: the one for all first.
    expect((await client.post('/v1/profiles', wrong)).status).toBe(422);
  });

  it('have a schema judge once: what it makes is not what it takes', async () => {
    const answer = await client.post('/v1/profiles/visits', { at: '2026-01-01' });
    expect([answer.status, answer.json()]).toEqual([201, { isDate: true }]);
    expectError(await client.post('/v1/profiles/visits', { at: 1 }), 400, 'invalid_request');
  });

  it('leave the bounds of a page to be kept', async () => {
    expect((await client.get('/v1/profiles/paged?limit=3')).json()).toEqual({ limit: 3 });
    for (const query of ['limit=1000000', 'limit=-5', 'limit=abc', 'limit=', 'cursor=junk']) {
      expectError(await client.get(`/v1/profiles/paged?${query}`), 400, 'invalid_request');
    }
  });

  it('leave what nobody declared to be refused before', async () => {
    expectError(await client.post('/v1/profiles/changes', { admin: 1 }), 400, 'invalid_request');
  });
});

@AnyScope()
@Controller('profiles')
class GroupedController {
  @Post()
  add(@Body(new ValidationPipe({ groups: ['create'] })) { name }: Profile): object {
    return { name };
  }

  @Post('visits')
  visit(@Body({ schema: Visit, pipes: [StandardSchemaValidationPipe] }) visit: object): object {
    return visit;
  }
}

@Module({ controllers: [GroupedController] })
class GroupedModule {}

it('asks of a parameter the rules of the groups that its own pipe names', async () => {
  await using service = await startWith(GroupedModule);
  const client = await service.client();
  const answer = await client.post('/v1/profiles', { id: 'x', name: 'Ann' });
  expect([answer.status, answer.json()]).toEqual([201, { name: 'Ann' }]);
  expectError(await client.post('/v1/profiles', { name: 1 }), 400, 'invalid_request');
  expect((await client.post('/v1/profiles/visits', { at: '2026-01-01' })).status).toBe(201);
});

class BodyOnly extends ValidationPipe {
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    return metadata.type === 'body'
      ? (super.transform(value, metadata) as Promise<unknown>)
      : Promise.resolve(value);
  }
}

@AnyScope()
@Controller('gifts')
class GiftsController {
  @Post()
  swap(@Body('mine', new ValidationPipe()) mine: Gift, @Body('yours') yours: Gift): object {
    return { mine, yours };
  }

  @Get()
  @UsePipes(new BodyOnly())
  list(@Query() gift: Gift): object {
    return gift;
  }

  @Get(':toy')
  @UsePipes(new ValidationPipe({ expectedType: Gift }))
  find(@Query() { page }: Listing): object {
    return { page };
  }
}

@Module({ controllers: [GiftsController] })
class GiftsModule {}

it('leaves nothing that nobody judges', async () => {
  await using service = await startWith(GiftsModule);
  const client = await service.client();
  const [good, bad] = [{ toy: 'ball' }, { toy: 1 }];
  expect((await client.post('/v1/gifts', { mine: good, yours: good })).status).toBe(201);
  expectError(await client.post('/v1/gifts', { mine: good, yours: bad }), 400, 'invalid_request');
  expectError(await client.post('/v1/gifts', { mine: bad, yours: good }), 400, 'invalid_request');
  expectError(await client.get('/v1/gifts'), 400, 'invalid_request');
  expectError(await client.get('/v1/gifts/ball?page=0'), 400, 'invalid_request');
});
