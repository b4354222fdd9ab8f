import {
  ConflictException,
  Controller,
  Get,
  HttpCode,
  Module,
  Param,
  Post,
  type Type,
} from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  AnyScope,
  ApiErrors,
  defineErrors,
  Idempotent,
  Public,
  RequireScope,
} from '../../src/index.js';
import type { Client } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { metricLines } from '../support/metrics.js';
import { startService, type TestService } from '../support/start-service.js';

const ORIGIN = 'https://zoo.example';

@Public()
@Controller('open')
class OpenController {
  @Get(':id')
  item(@Param('id') id: string): object {
    return { id };
  }

  /** As one of ours is called. */
  @Get('animals/all')
  @ApiOperation({ operationId: 'listPets' })
  animals(): object[] {
    return [];
  }
}

const toyErrors = defineErrors({ toy_sold: { status: 409, meaning: 'The toy is sold.' } });

class Toy {
  @ApiProperty({ example: 'ball' })
  name!: string;
}

@ApiTags('toys')
@Controller('toys')
class ToysController {
  @Get()
  @AnyScope()
  list(): object[] {
    return [];
  }

  @Post()
  @HttpCode(202)
  @RequireScope('toys:write')
  @Idempotent()
  @ApiErrors(toyErrors.toy_sold)
  @ApiHeader({ name: 'X-Shop', description: 'Which of them.' })
  @ApiResponse({
    status: 202,
    description: 'It will be made.',
    type: Toy,
    headers: { 'X-Queue': { description: 'Before it.', schema: { type: 'integer' } } },
  })
  order(): Toy {
    return { name: 'ball' };
  }
}

@Controller('games')
@AnyScope()
class GamesController {
  @Get()
  list(): object[] {
    return [];
  }

  @Get(['best', 'worst'])
  ranked(): object {
    throw new ConflictException();
  }

  @Get('rules/*')
  rules(): object {
    return {};
  }

  /** As one of ours is called. */
  @Get('pets')
  listPets(): object[] {
    return [];
  }
}

/** A second class `ToysController`. */
function otherToys(): Type {
  @Controller('other-toys')
  @AnyScope()
  class ToysController {
    @Get()
    list(): object[] {
      return [];
    }
  }
  return ToysController;
}

@Module({ controllers: [OpenController, ToysController, GamesController] })
class ToysModule {}

@Module({ controllers: [otherToys()] })
class OtherModule {}

describe('the document of a service with extensions', () => {
  let service: TestService;
  let client: Client;
  /* eslint-disable @typescript-eslint/no-explicit-any -- what the test finds out */
  let paths: any;
  let schemas: any;
  let others: any;
  /* eslint-enable @typescript-eslint/no-explicit-any */
  beforeAll(async () => {
    service = await startService({
      extensions: [
        { name: 'toys', module: ToysModule, scopes: { 'toys:write': 'Order toys.' } },
        { name: 'other', module: OtherModule },
      ],
      env: { PUBLIC_BASE_URL: `${ORIGIN}/v1`, METRICS_PORT: String(await freePort()) },
    });
    client = await service.client();
    const document = (await client.get('/openapi.json')).json();
    ({ paths } = document);
    schemas = document.components.schemas;
    others = document.components.responses.OtherError;
  });
  afterAll(() => service?.close());

  it('describes a public operation at its own address, without keys and quotas', () => {
    const { get } = paths['/open/{id}'];
    expect(get).toMatchObject({
      operationId: 'item',
      security: [],
      servers: [{ url: ORIGIN, description: 'Production' }],
    });
    expect(Object.keys(get.responses)).toEqual(['200', '400', '405', '500', '503', 'default']);
    expect(Object.keys(get.responses['200'].headers)).toEqual(['X-Request-Id']);
    expect(JSON.stringify(paths)).not.toContain('x-petstore');
    const { get: closed } = paths['/games'];
    expect(closed).not.toHaveProperty('servers');
    expect(closed.security).toEqual([{ apiKey: [] }]);
    expect(closed.responses).toHaveProperty('429');
  });

  it('gives each operation a unique id, also in the metrics', async () => {
    const expected = [
      ['/toys', 'ToysController_list'],
      ['/other-toys', 'ToysController_list_2'],
      ['/games', 'GamesController_list'],
      ['/games/pets', 'GamesController_listPets'],
      ['/pets', 'listPets'],
      ['/games/rules/{path}', 'rules'],
    ] as const;
    for (const [path, id] of expected) {
      expect(paths[path].get.operationId).toBe(id);
      await client.get(`/v1${path}`);
    }
    const lines = (await metricLines(service)).join('\n');
    for (const [, id] of expected) {
      expect(lines).toContain(`_count{operation="${id}",method="GET",status="200"} 1\n`);
    }
    expect(paths['/games/best'].get.operationId).toBe('ranked');
    expect(paths['/games/worst'].get.operationId).toBe('ranked_2');
  });

  it('lists the codes of extensions as known codes', () => {
    const { examples } = paths['/toys'].post.responses['409'].content['application/json'];
    expect(Object.keys(examples)).toEqual(['idempotency_key_in_use', 'toy_sold']);
    expect(schemas.ErrorCode['x-extensible-enum']).toContain('toy_sold');
  });

  it('names the general codes of exceptions that an extension does not document', async () => {
    const { responses } = paths['/games/best'].get;
    expect(responses.default).toEqual({ $ref: '#/components/responses/OtherError' });
    const answer = (await client.get('/v1/games/best')).json();
    expect(answer).toMatchObject({ code: 'conflict', status: 409 });
    expect(others.description).toContain('`conflict` (409)');
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
      'X-Queue': { description: 'Before it.' },
      'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' },
      RateLimit: { $ref: '#/components/headers/RateLimit' },
    });
    expect(post.security).toEqual([{ apiKey: ['toys:write'] }]);
    expect(paths['/toys'].get.responses['200'].headers).not.toHaveProperty('Link');
    expect(paths['/toys'].get.responses['200'].headers).not.toHaveProperty('Idempotent-Replayed');
  });
});
