import {
  Body,
  ClassSerializerInterceptor,
  ConflictException,
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  SerializeOptions,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Exclude, Expose, Transform } from 'class-transformer';
import { IsInt, IsString } from 'class-validator';
import {
  Column,
  DataSource,
  Entity,
  type MigrationInterface,
  PrimaryColumn,
  type QueryRunner,
  Repository,
} from 'typeorm';
import { AnyScope, bigintColumn, Creates, Idempotent, Page } from '../../src/index.js';
import { expectError } from '../support/expectations.js';
import { recordedLog } from '../support/recorded-log.js';
import { useService } from '../support/start-service.js';

class CreateToys1770000000000 implements MigrationInterface {
  readonly name = 'CreateToys1770000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE "toys" ("id" bigint PRIMARY KEY NOT NULL, "name" text)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "toys"');
  }
}

@Entity('toys')
class Toy {
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn })
  id!: bigint;

  @Exclude()
  @Column({ type: 'text' })
  name!: string;
}

class NewToy {
  @IsInt()
  id!: number;

  @IsString()
  name!: string;
}

class Coin {
  constructor(
    readonly cents: number,
    readonly isHidden = false,
  ) {}

  toJSON(): string {
    return `${this.cents} ct`;
  }
}

class Purse {
  @Transform(({ value }) => ({ cents: (value as Coin).cents % 100 }))
  card = new Coin(4_199);

  @Transform(({ value }) => (value as Coin[]).filter(({ isHidden }) => !isHidden))
  coins = [new Coin(1, true), new Coin(2)];

  @Expose({ groups: ['owner'] })
  owner = 'Ann';

  @Expose({ groups: ['bank'] })
  pin = '1234';
}

const BASE = 9_007_199_254_740_993n;
let tidied = 0;
let rejected = 0;

@Injectable()
class ToysService {
  constructor(
    @InjectRepository(Toy) private readonly toys: Repository<Toy>,
    private readonly dataSource: DataSource,
  ) {}

  /** Writes partly within a transaction, like an extension may. */
  async add({ id, name }: NewToy): Promise<Toy> {
    const toy = this.toys.create({ id: BASE + BigInt(id), name });
    await this.dataSource.transaction((manager) => manager.insert(Toy, toy));
    await this.toys.update({ id: toy.id }, { name: `${name}!` });
    if (name === 'broken') throw new ConflictException('broken');
    return this.dataSource.transaction((manager) => manager.findOneByOrFail(Toy, { id: toy.id }));
  }
}

@AnyScope()
@UseInterceptors(ClassSerializerInterceptor)
@Controller('toys')
class ToysController {
  constructor(
    private readonly toys: ToysService,
    @InjectRepository(Toy) private readonly repository: Repository<Toy>,
  ) {}

  @Post()
  @Idempotent()
  @Creates(Toy, { at: '/toys/:id' })
  addToy(@Body() toy: NewToy): Promise<Toy> {
    return this.toys.add(toy);
  }

  @Post('by-another-order')
  @Creates(Toy, { at: '/toys/:id' })
  @Idempotent()
  addInOtherOrder(@Body() toy: NewToy): Promise<Toy> {
    return this.toys.add(toy);
  }

  @Post('tidied')
  @Idempotent()
  async tidyUp(): Promise<void> {
    tidied++;
    await this.repository.update({ name: 'lost' }, { name: 'found' });
  }

  @Post('rejected')
  @Idempotent()
  reject(): never {
    rejected++;
    throw new ConflictException('rejected');
  }

  @Post('price')
  @Idempotent()
  price(): object {
    const price = { cents: 150n, toJSON: () => '1.50' };
    return { price, list: [{ price }] };
  }

  @Post('purse')
  @Idempotent()
  @SerializeOptions({ groups: ['owner'] })
  purse(): Purse {
    return new Purse();
  }

  @Post('page')
  @Idempotent()
  page(): object {
    const toy = this.repository.create({ id: 1n, name: 'secret' });
    return { page: new Page([toy], undefined), box: { toJSON: () => ({ toy }) } };
  }

  @Post('file')
  @Idempotent()
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('ball'));
  }

  @Get()
  async listToys(): Promise<number> {
    return this.repository.count();
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Toy])],
  controllers: [ToysController],
  providers: [ToysService],
})
class ToysModule {}

describe('@Idempotent()', () => {
  const { logger, lines } = recordedLog();
  const { client } = useService({
    logger,
    extensions: [{ module: ToysModule, migrations: [CreateToys1770000000000] }],
    env: { PUBLIC_BASE_URL: 'https://zoo.example/v1' },
  });
  let next = 1;

  const toy = (name = 'ball'): { id: number; name: string } => ({ id: next++, name });
  const post = (body: object | undefined, key: string, path = '') =>
    client.post(`/v1/toys${path}`, body, { 'idempotency-key': key });
  const count = async (): Promise<number> => Number((await client.get('/v1/toys')).text);

  it('responds to a repeat with the first response, byte for byte, and does nothing again', async () => {
    const body = toy();
    const first = await post(body, 'k1');
    expect(first.status).toBe(201);
    expect(first.text).toBe(`{"id":${BASE + BigInt(body.id)}}`);
    expect(first.headers.location).toBe(`https://zoo.example/v1/toys/${BASE + BigInt(body.id)}`);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    const before = await count();
    const again = await post(body, 'k1');
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      location: first.headers.location,
      'content-type': 'application/json; charset=utf-8',
    });
    expect(await count()).toBe(before);
  });

  it('responds to a repeat without a body where the handler returns nothing', async () => {
    const first = await post(undefined, 'nothing', '/tidied');
    const again = await post(undefined, 'nothing', '/tidied');
    expect([first.status, first.text, again.status, again.text]).toEqual([201, '', 201, '']);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(tidied).toBe(1);
  });

  it('stores members in the JSON form that they have', async () => {
    const prices = [1, 2].map(() => client.post('/v1/toys/price', {}, { 'Idempotency-Key': 'p' }));
    for (const response of await Promise.all(prices)) {
      if (response.status === 409) continue;
      expect(response.json()).toEqual({ price: '1.50', list: [{ price: '1.50' }] });
    }
    const repeat = await client.post('/v1/toys/price', {}, { 'Idempotency-Key': 'p' });
    expect(repeat.json()).toEqual({ price: '1.50', list: [{ price: '1.50' }] });
  });

  it('responds as without a key where a serializer with options changes the response', async () => {
    const { text } = await client.post('/v1/toys/purse', {});
    expect(text).toContain('"owner":"Ann"');
    expect(text).not.toMatch(/4199|1234|"cents":1\b|1 ct/);
    expect((await post({}, 'purse', '/purse')).text).toBe(text);
    expect((await post({}, 'purse', '/purse')).text).toBe(text);
  });

  it('stores nothing that a serializer hides in the JSON form of an object', async () => {
    const body = '{"page":[{"id":1}],"box":{"toy":{"id":1}}}';
    expect((await post({}, 'page', '/page')).text).toBe(body);
    expect((await post({}, 'page', '/page')).text).toBe(body);
  });

  it('runs a handler that fails once', async () => {
    expectError(await post(undefined, 'fails', '/rejected'), 409, 'conflict');
    expect(rejected).toBe(1);
  });

  it('says in the log that a file cannot be stored', async () => {
    expect((await client.post('/v1/toys/file', undefined)).text).toBe('ball');
    expectError(await post(undefined, 'file', '/file'), 500, 'internal_error');
    const failure = lines.find(({ level }) => level === 'error');
    expect(failure!.details.err.message).toContain('cannot store a file');
  });

  it('sets Location in whatever order it is combined with @Creates()', async () => {
    const body = toy();
    const first = await post(body, 'order', '/by-another-order');
    const again = await post(body, 'order', '/by-another-order');
    expect(first.headers.location).toBe(`https://zoo.example/v1/toys/${BASE + BigInt(body.id)}`);
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      location: first.headers.location,
    });
    expectError(await post(body, 'order'), 422, 'idempotency_key_reused');
  });

  it('stores nothing of a failed request, so its key stays free', async () => {
    const before = await count();
    const { id } = toy();
    expectError(await post({ id, name: 'broken' }, 'k4'), 409, 'conflict');
    expect(await count()).toBe(before);
    expect((await post({ id, name: 'mended' }, 'k4')).status).toBe(201);
    expectError(await post({ id: 'x' }, 'k5'), 400, 'invalid_request');
    expect((await post(toy(), 'k5')).status).toBe(201);
  });
});
