import {
  Body,
  ConflictException,
  Controller,
  Get,
  HttpCode,
  Module,
  Param,
  Post,
  Query,
  Search,
  Redirect,
  StreamableFile,
} from '@nestjs/common';
import {
  ApiHeader,
  ApiOperation,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsOptional, IsString, ValidateNested } from 'class-validator';
import {
  AnyScope,
  ApiErrors,
  ApiPage,
  defineErrors,
  Idempotent,
  Page,
  PageQuery,
  Public,
  RequireScope,
} from '../../src/index.js';
import { metricLines } from '../support/metrics.js';
import { useService } from '../support/start-service.js';

const ORIGIN = 'https://zoo.example';

@Public()
@Controller('open')
class OpenController {
  @Get(':id')
  item(@Param('id') id: string): object {
    return { id };
  }

  @Get('files/*')
  nested(@Param('*') path: string): object {
    return { path };
  }
}

const toyErrors = defineErrors({ toy_sold: { status: 409, meaning: 'The toy is sold.' } });

class Toy {
  @ApiProperty({ example: 'ball' })
  name!: string;
}

class Part {
  @IsString()
  @ApiProperty()
  kind!: string;
}

class Repair {
  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => Part)
  @ApiPropertyOptional({ type: [Part] })
  parts?: Part[];
}

@ApiTags('toys')
@Controller('toys')
class ToysController {
  /** A core operation has the same name. */
  @Get()
  @AnyScope()
  @ApiOperation({ operationId: 'listToys' })
  listPets(): object[] {
    return [];
  }

  @Get(['first', 'second/:id'])
  @AnyScope()
  several(@Param('id') id?: string): object[] {
    return [{ id }];
  }

  @Get(':name-:size/photo.:type')
  @AnyScope()
  photo(): string {
    return '';
  }

  @Post('repairs::cancel')
  @AnyScope()
  cancel(): void {}

  @Post('repairs::finish')
  @AnyScope()
  finish(): void {}

  @Search('search')
  @AnyScope()
  search(): void {}

  @Get('sold')
  @AnyScope()
  sold(): never {
    throw new ConflictException();
  }

  @Post('repairs')
  @AnyScope()
  repair(@Body() repair: Repair): object {
    return { parts: repair.parts?.length ?? 0 };
  }

  @Post()
  @HttpCode(202)
  @RequireScope('toys:write')
  @Idempotent()
  @ApiErrors(toyErrors.toy_sold)
  @ApiHeader({ name: 'X-Shop', description: 'The shop that makes it.' })
  @ApiResponse({
    status: 202,
    description: 'It will be made.',
    type: Toy,
    headers: { 'X-Queue': { description: 'Orders before it.', schema: { type: 'integer' } } },
  })
  order(): Toy {
    return { name: 'ball' };
  }
}

@AnyScope()
@Controller('reads')
class ReadsController {
  @Get('named')
  @ApiPage(Toy, { name: 'Toys', description: 'A page of toys.' })
  named(@Query() query: PageQuery): Page<Toy> {
    return Page.of([], query, () => 1);
  }

  @Get('documented')
  @ApiResponse({ status: 200, type: Toy })
  documented(): Promise<Toy> {
    return Promise.resolve({ name: 'ball' });
  }

  @Get('plain')
  plain(): Promise<object> {
    return Promise.resolve({});
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('{}'), { type: 'application/json' });
  }

  @Get('image')
  @ApiProduces('image/png')
  @ApiResponse({ status: 200, schema: { type: 'string', format: 'binary' } })
  image(): Promise<StreamableFile> {
    return Promise.resolve(new StreamableFile(Buffer.from(''), { type: 'image/png' }));
  }

  @Get('text')
  text(): string {
    return 'woof';
  }

  @Get('moved')
  @Redirect('/v1/pets')
  moved(): void {}

  @Get('none')
  @HttpCode(204)
  none(): void {}

  @Post()
  post(): object {
    return {};
  }
}

@Module({ controllers: [OpenController, ToysController, ReadsController] })
class ToysModule {}

describe('the document of a service with extensions', () => {
  const toys = {
    name: 'toys',
    module: ToysModule,
    scopes: { 'toys:write': 'Order toys.' },
    tags: { toys: 'Toys of pets.' },
  };
  const { service, client } = useService({
    extensions: [toys],
    env: { PUBLIC_BASE_URL: `${ORIGIN}/v1` },
  });
  /* eslint-disable @typescript-eslint/no-explicit-any -- a test asserts the shape */
  let paths: any;
  let components: any;
  let tags: any;
  /* eslint-enable @typescript-eslint/no-explicit-any */
  beforeAll(async () => {
    ({ paths, components, tags } = (await client.get('/openapi.json')).json());
  });

  it('describes a public operation at its own address, without keys and quotas', () => {
    const { get } = paths['/open/{id}'];
    expect(get).toMatchObject({
      operationId: 'item',
      security: [],
      servers: [{ url: ORIGIN, description: 'Production' }],
    });
    expect(Object.keys(get.responses)).toEqual(['200', '400', '405', '500', '503', 'default']);
    expect(Object.keys(get.responses['200'].headers)).toEqual(['X-Request-Id']);
    const { get: closed } = paths['/toys'];
    expect(closed).not.toHaveProperty('servers');
    expect(closed.security).toEqual([{ apiKey: [] }]);
    expect(closed.responses).toHaveProperty('429');
  });

  it('has the operation id that @ApiOperation() sets, also in the metrics', async () => {
    const lines = async () => (await metricLines(service)).join('\n');
    for (const [path, id] of [
      ['/pets', 'listPets'],
      ['/toys', 'listToys'],
    ] as const) {
      expect(paths[path].get.operationId).toBe(id);
      await client.get(`/v1${path}`);
      expect(await lines()).toContain(`_count{operation="${id}",method="GET",status="200"} 1\n`);
    }
  });

  it('documents several parameters in a segment, and a colon', () => {
    expect(paths['/toys/{name}-{size}/photo.{type}'].get.operationId).toBe('photo');
    expect(paths['/toys/repairs:cancel'].post.operationId).toBe('cancel');
    expect(paths['/toys/repairs:finish'].post.operationId).toBe('finish');
  });

  it('omits the method SEARCH, which OpenAPI 3.1 does not have', () => {
    expect(paths['/toys/search']).not.toHaveProperty('search');
  });

  it('numbers the ids of an operation with several paths, each with its own parameters', () => {
    const [first, second] = ['first', 'second/{id}'].map((path) => paths[`/toys/${path}`].get);
    expect([first.operationId, second.operationId]).toEqual(['several', 'several_2']);
    const names = (list: { in: string; name: string }[]) =>
      list.filter((each) => each.in === 'path').map(({ name }) => name);
    expect([names(first.parameters), names(second.parameters)]).toEqual([[], ['id']]);
  });

  it('documents ETag and 304 of exactly the operations that send an ETag', async () => {
    const documented = Object.entries<Record<string, { responses: object }>>(paths).flatMap(
      ([path, item]) =>
        Object.values(item).some(({ responses }) => '304' in responses) ? [path] : [],
    );
    const sending = [
      ...['/pets', '/pets/{petId}', '/toys', '/toys/first', '/toys/second/{id}'],
      ...['/reads/documented', '/reads/named', '/reads/plain'],
    ];
    expect(documented.sort()).toEqual([...sending, '/toys/sold'].sort());
    for (const path of sending) {
      const { parameters, responses } = paths[path].get;
      expect(parameters).toContainEqual(expect.objectContaining({ name: 'If-None-Match' }));
      for (const status of ['200', '304']) expect(responses[status].headers).toHaveProperty('ETag');
    }
    const { id } = (await client.post('/v1/pets', { name: 'Rex', categoryId: 7 })).json();
    for (const path of Object.keys(paths).filter((each) => !each.startsWith('/open'))) {
      if (paths[path].get === undefined || path === '/toys/sold') continue;
      const { headers } = await client.get(`/v1${path.replace('{petId}', id)}`);
      expect([path, 'etag' in headers]).toEqual([path, sending.includes(path)]);
    }
  });

  it('lists the codes of extensions, and the general codes of other exceptions', async () => {
    const { examples } = paths['/toys'].post.responses['409'].content['application/json'];
    expect(Object.keys(examples)).toEqual(['idempotency_key_in_use', 'toy_sold']);
    expect(components.schemas.ErrorCode['x-extensible-enum']).toContain('toy_sold');
    const { default: others } = paths['/toys/sold'].get.responses;
    expect(others).toEqual({ $ref: '#/components/responses/OtherError' });
    expect((await client.get('/v1/toys/sold')).json()).toMatchObject({ code: 'conflict' });
    expect(components.responses.OtherError.description).toContain('`conflict` (409)');
  });

  it('declares Retry-After as optional, because the errors of an extension may lack it', () => {
    expect(components.headers['Retry-After'].required).toBeUndefined();
  });

  it('closes the schema of a body with its nested objects, as the service does', async () => {
    expect(components.schemas).toMatchObject({
      Repair: { additionalProperties: false },
      Part: { additionalProperties: false },
    });
    expect(components.schemas.Toy).not.toHaveProperty('additionalProperties');
    const answer = await client.post('/v1/toys/repairs', { parts: [{ kind: 'wheel', size: 1 }] });
    expect(answer.status).toBe(400);
  });

  it('says that a body without required members may be left out, as the service accepts it', async () => {
    expect(paths['/toys/repairs'].post.requestBody.required).toBe(false);
    expect(paths['/pets'].post.requestBody.required).toBe(true);
    const answer = await client.send('/v1/toys/repairs', { method: 'POST' });
    expect([answer.status, answer.text]).toEqual([201, '{"parts":0}']);
  });

  it('calls a wildcard by one name in the path and its parameter', () => {
    const { parameters } = paths['/open/files/{path}'].get;
    expect(parameters).toEqual([expect.objectContaining({ name: 'path', in: 'path' })]);
  });

  it('gives the schema of a list the name of @ApiPage()', () => {
    const { description, content } = paths['/reads/named'].get.responses['200'];
    expect(description).toBe('A page of toys.');
    expect(content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Toys' });
    expect(components.schemas.Toys).toEqual({
      type: 'array',
      maxItems: 100,
      items: { $ref: '#/components/schemas/Toy' },
      description,
    });
  });

  it('describes the tags of an extension', () => {
    expect(tags).toContainEqual({ name: 'toys', description: 'Toys of pets.' });
    expect(paths['/toys'].post.tags).toEqual(['toys']);
  });

  it('keeps the headers, statuses, tags and examples of an extension, and adds those of the service', () => {
    const { post } = paths['/toys'];
    expect(post.tags).toEqual(['toys']);
    expect(post.parameters.map(({ name }: { name: string }) => name).sort()).toEqual([
      'Idempotency-Key',
      'X-Shop',
    ]);
    const { description, headers, content } = post.responses['202'];
    expect(description).toBe('It will be made.');
    expect(content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Toy' });
    expect(headers).toMatchObject({
      'X-Queue': { description: 'Orders before it.' },
      'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' },
      RateLimit: { $ref: '#/components/headers/RateLimit' },
    });
    expect(post.security).toEqual([{ apiKey: ['toys:write'] }]);
    expect(paths['/toys'].get.responses['200'].headers).not.toHaveProperty('Link');
    expect(paths['/toys'].get.responses['200'].headers).not.toHaveProperty('Idempotent-Replayed');
  });
});
