import {
  Body,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  Headers,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  Query,
} from '@nestjs/common';
import { APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import type { FastifyInstance } from 'fastify';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, MoreThan, Repository } from 'typeorm';
import { of, type Observable } from 'rxjs';
import {
  AnyScope,
  ApiPage,
  Database,
  InputPipe,
  Page,
  PageQuery,
  Pet,
  Public,
  TableGateway,
} from '../../src/index.js';
import { expectError } from '../support/expectations.js';
import { startService, useService } from '../support/start-service.js';

class ZooPetDto {
  @ApiProperty({ type: 'integer', format: 'int64' })
  id!: bigint;

  @ApiProperty()
  name!: string;
}

class ZooQuery extends PageQuery {
  @IsOptional()
  @IsIn(['available', 'sold'])
  status?: 'available' | 'sold';
}

@ApiTags('zoo')
@AnyScope()
@Controller('zoo')
class ZooController {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  @Get('pets')
  @ApiPage(ZooPetDto)
  async listPetsOfZoo(@Query() query: ZooQuery): Promise<Page<object>> {
    const after = query.after('int64') ?? 0n;
    const rows = await this.pets.find({
      where: { id: MoreThan(after), ...(query.status && { status: query.status }) },
      order: { id: 'ASC' },
      take: query.limit + 1,
    });
    return Page.of(rows, query, ({ id }) => id).map(({ id, name }) => ({ id, name }));
  }
}

@AnyScope()
@Controller('zoo')
class PlainController {
  constructor(private readonly host: HttpAdapterHost) {}

  @Get('plain')
  @Header('Link', '</about>; rel="about"')
  plain(@Query() query: PageQuery): Page<object> {
    const after = query.after('number') ?? 0;
    return Page.of(
      [{ id: after + 1 }, { id: after + 2 }, { id: after + 3 }],
      query,
      ({ id }) => id,
    );
  }

  /** Injects a request of the same caller, as examples/mcp does. */
  @Post('relay')
  async relay(@Body('url') url: string, @Headers('authorization') key: string): Promise<object> {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const request = { url, headers: { authorization: key } };
    const { statusCode: status, headers, body } = await fastify.inject(request);
    return { status, link: headers.link, body };
  }
}

/** Responds to listPets itself. Pipes run after it. */
@Injectable()
class ListInterceptor implements NestInterceptor {
  private readonly pets: TableGateway<Pet>;

  constructor(database: Database) {
    this.pets = new TableGateway(Pet, database);
  }

  async intercept(context: ExecutionContext): Promise<Observable<unknown>> {
    const { query } = context.switchToHttp().getRequest<{ query: unknown }>();
    const metadata = { type: 'query', metatype: PageQuery } as const;
    const valid = (await new InputPipe().transform(query, metadata)) as PageQuery;
    return of(await this.pets.page(valid, {}));
  }
}

@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: ListInterceptor }] })
class ListModule {}

@Public()
@Controller('open/keepers')
class KeepersController {
  @Get()
  @ApiPage(ZooPetDto)
  list(@Query() query: PageQuery): Page<object> {
    const last = query.after('number') ?? 0;
    const keepers = [{ id: 1 }, { id: 2 }, { id: 3 }].filter(({ id }) => id > last);
    return Page.of(keepers, query, ({ id }) => id);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [ZooController, PlainController, KeepersController],
})
class ZooModule {}

const COUNT = 25;

describe('a list of an extension', () => {
  const { service, client } = useService({
    extensions: [{ module: ZooModule }],
    env: { PUBLIC_BASE_URL: 'https://zoo.example/api/v1' },
  });
  beforeAll(async () => {
    for (let index = 0; index < COUNT; index++) {
      const status = index % 2 === 0 ? 'available' : 'sold';
      await client.post('/v1/pets', { name: `Pet ${index}`, categoryId: 1, status });
    }
  });

  /** The query of the link to the next page. */
  async function nextQuery(path: string): Promise<string> {
    const { headers } = await client.get(path);
    expect(headers.link).toMatch(/^<https:\/\/zoo.example\/api\/v1\/zoo\/.*>; rel="next"$/);
    return /\?([^>]+)/.exec(String(headers.link))![1]!;
  }

  it('links to its next page, and rejects a cursor of another filter and a forged one', async () => {
    const query = await nextQuery('/v1/zoo/pets?limit=20');
    expect((await client.get(`/v1/zoo/pets?${query}`)).json()).toHaveLength(5);
    const cursor = new URLSearchParams(query).get('cursor')!;
    const sold = /cursor=([^&]+)/.exec(await nextQuery('/v1/zoo/pets?status=sold&limit=3'))![1]!;
    for (const other of [
      `status=sold&cursor=${cursor}`,
      `status=available&cursor=${sold}`,
      `cursor=${sold}`,
    ]) {
      expectError(await client.get(`/v1/zoo/pets?${other}`), 400, 'invalid_request');
    }
    const [filter] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string];
    for (const forged of [
      ['x'],
      ['"; DROP TABLE pets; --'],
      ['9223372036854775808'],
      ['1', '2'],
      [],
      [7],
    ]) {
      const text = Buffer.from(JSON.stringify([filter, ...forged])).toString('base64url');
      expectError(await client.get(`/v1/zoo/pets?cursor=${text}`), 400, 'invalid_request');
    }
    for (const broken of ['', 'x', '%00', `${cursor}A`, 'a'.repeat(5_000)]) {
      expectError(await client.get(`/v1/zoo/pets?cursor=${broken}`), 400, 'invalid_request');
    }
  });

  it('links outside /v1 to a page of a @Public() controller', async () => {
    const anonymous = service.anonymous();
    const { headers } = await anonymous.get('/open/keepers?limit=2');
    expect(headers.link).toMatch(/^<https:\/\/zoo\.example\/open\/keepers\?.+>; rel="next"$/);
    const path = /example([^>]+)/.exec(headers.link as string)![1]!;
    expect((await anonymous.get(path)).json()).toEqual([{ id: 3 }]);
  });

  it('links to the next page without @ApiPage() too, beside a Link of the handler', async () => {
    const { headers } = await client.get('/v1/zoo/plain?limit=2');
    expect(headers.link).toMatch(
      /^<\/about>; rel="about", <https:\/\/zoo\.example\/api\/v1\/zoo\/plain\?limit=2&cursor=[\w-]+>; rel="next"$/,
    );
  });

  it('rejects a cursor of another list', async () => {
    const query = await nextQuery('/v1/zoo/pets?limit=20');
    for (const path of ['zoo/plain', 'pets']) {
      const other = await client.get(`/v1/${path}?${query}`);
      expectError(other, 400, 'invalid_request');
      expect(other.json().message).toBe(
        'cursor must come from a Link header of this list, and the filter must be the same',
      );
    }
  });

  it('accepts a cursor from a request that another request injected', async () => {
    const link = (headers: Record<string, unknown>): URL =>
      new URL(/<([^>]+)>/.exec(String(headers.link))![1]!);
    const direct = link((await client.get('/v1/pets?limit=3')).headers);
    const within = link((await client.post('/v1/zoo/relay', { url: '/v1/pets?limit=3' })).json());
    expect(within.search).toBe(direct.search);
    const url = `/v1/pets${direct.search}`;
    const relayed = (await client.post('/v1/zoo/relay', { url })).json();
    expect(relayed).toMatchObject({ status: 200, body: (await client.get(url)).text });
  });

  it('lets an interceptor validate the query of a list that it responds to itself', async () => {
    await using other = await startService({ extensions: [{ module: ListModule }] });
    const caller = await other.client();
    const pets = other.store.app.get(DataSource).getRepository(Pet);
    for (const name of ['Rex', 'Luna']) await pets.insert({ name, categoryId: 1n });
    const first = await caller.get('/v1/pets?limit=1');
    expect([first.status, first.json().length]).toEqual([200, 1]);
    const [, next] = /<[^>]*(\/v1\/pets\?[^>]*)>/.exec(String(first.headers.link))!;
    const second = await caller.get(next!);
    expect([second.status, second.json().length]).toEqual([200, 1]);
    expect(second.json()[0].id).not.toBe(first.json()[0].id);
    expectError(await caller.get('/v1/pets?cursor=x'), 400, 'invalid_request');
  });
});
