import { Controller, Get, Module, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { AnyScope, ApiPage, Page, PageQuery, Pet, Public } from '../../src/index.js';
import { PetDto } from '../../src/pets/pet.dto.js';
import { expectError } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

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

  @Get(['pets', ':zooId/pets', ':zooId/visitors'])
  @ApiPage(PetDto)
  async listAnimals(@Query() query: ZooQuery): Promise<Page<object>> {
    const after = query.after('int64') ?? 0n;
    const rows = await this.pets.find({
      where: { id: MoreThan(after), ...(query.status && { status: query.status }) },
      order: { id: 'ASC' },
      take: query.limit + 1,
    });
    return Page.of(rows, query, ({ id }) => id).map(({ id, name }) => ({ id, name }));
  }
}

@Public()
@Controller('open/keepers')
class KeepersController {
  @Get()
  @ApiPage(PetDto)
  list(@Query() query: PageQuery): Page<object> {
    const last = query.after('number') ?? 0;
    const keepers = [{ id: 1 }, { id: 2 }, { id: 3 }].filter(({ id }) => id > last);
    return Page.of(keepers, query, ({ id }) => id);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [ZooController, KeepersController],
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

  it('rejects a cursor of another path or operation', async () => {
    const query = await nextQuery('/v1/zoo/1/pets?limit=20');
    for (const path of ['zoo/2/pets', 'zoo/1/visitors', 'zoo/pets']) {
      const other = await client.get(`/v1/${path}?${query}`);
      expectError(other, 400, 'invalid_request');
      expect(other.json().message).toContain('from a Link header of this list');
    }
  });
});
