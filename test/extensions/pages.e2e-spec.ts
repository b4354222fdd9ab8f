import { Controller, Get, Module, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { AnyScope, ApiPage, Page, PageQuery, Pet } from '../../src/index.js';
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

  @Get(['animals', ':zooId/animals', ':zooId/visitors'])
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

@Module({ imports: [TypeOrmModule.forFeature([Pet])], controllers: [ZooController] })
class ZooModule {}

const COUNT = 25;

describe('a list of an extension', () => {
  const { client } = useService({
    extensions: [{ module: ZooModule }],
    env: { PUBLIC_BASE_URL: 'https://zoo.example/api/v1' },
  });
  beforeAll(async () => {
    for (let index = 0; index < COUNT; index++) {
      const status = index % 2 === 0 ? 'available' : 'sold';
      await client.post('/v1/pets', { name: `Pet ${index}`, categoryId: 1, status });
    }
  });

  async function follow(path: string): Promise<{ ids: number[]; links: string[] }> {
    const [ids, links]: [number[], string[]] = [[], []];
    for (let next: string | undefined = path; next !== undefined;) {
      const page = await client.get(next);
      expect(page.status).toBe(200);
      ids.push(...page.json().map(({ id }: { id: number }) => id));
      const link = page.headers.link as string | undefined;
      const url: string | undefined = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1];
      if (url !== undefined) links.push(url);
      next = url?.replace('https://zoo.example/api', '');
    }
    return { ids, links };
  }

  it('returns every row once and in order through Link', async () => {
    const { ids, links } = await follow('/v1/zoo/animals?limit=10');
    expect(ids).toHaveLength(COUNT);
    expect([...ids].sort((one, other) => one - other)).toEqual(ids);
    expect(new Set(ids).size).toBe(COUNT);
    expect(links).toHaveLength(2);
    expect(links[0]).toMatch(
      /^https:\/\/zoo\.example\/api\/v1\/zoo\/animals\?limit=10&cursor=[\w-]+$/,
    );
  });

  it('rejects a cursor of another filter, and a forged one', async () => {
    const { links } = await follow('/v1/zoo/animals?limit=20');
    const cursor = new URL(links[0]!).searchParams.get('cursor')!;
    const other = await client.get(`/v1/zoo/animals?status=sold&cursor=${cursor}`);
    expectError(other, 400, 'invalid_request');
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
      expectError(await client.get(`/v1/zoo/animals?cursor=${text}`), 400, 'invalid_request');
    }
    for (const broken of ['', 'x', '%00', `${cursor}A`, 'a'.repeat(5_000)]) {
      expectError(await client.get(`/v1/zoo/animals?cursor=${broken}`), 400, 'invalid_request');
    }
  });

  it('rejects a cursor of another path or operation', async () => {
    const { links } = await follow('/v1/zoo/1/animals?limit=20');
    const { searchParams } = new URL(links[0]!);
    for (const path of ['zoo/2/animals', 'zoo/1/visitors', 'zoo/animals']) {
      const other = await client.get(`/v1/${path}?${searchParams.toString()}`);
      expectError(other, 400, 'invalid_request');
      expect(other.json().message).toContain('path and the filter of its own list');
    }
    expect((await client.get(`/v1/zoo/1/animals?${searchParams.toString()}`)).json()).toHaveLength(
      5,
    );
  });
});
