import {
  Body,
  ClassSerializerInterceptor,
  ConflictException,
  Controller,
  Get,
  Injectable,
  Module,
  Param,
  ParseIntPipe,
  Post,
  Put,
  UseInterceptors,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Exclude } from 'class-transformer';
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
import {
  AnyScope,
  ApiIdempotent,
  bigintColumn,
  Creates,
  Idempotent,
  IdempotencyKey,
  type IdempotentRequest,
  IdempotencyService,
} from '../../src/index.js';
import type { Client } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

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

const BASE = 9_007_199_254_740_993n;

@Injectable()
class ToysService {
  constructor(
    @InjectRepository(Toy) private readonly toys: Repository<Toy>,
    private readonly dataSource: DataSource,
  ) {}

  /** Writes partly within a transaction, as an extension may. */
  async add({ id, name }: NewToy): Promise<Toy> {
    const toy = this.toys.create({ id: BASE + BigInt(id), name });
    await this.dataSource.transaction((manager) => manager.insert(Toy, toy));
    await this.toys.update({ id: toy.id }, { name: `${name}!` });
    if (name === 'broken') throw new ConflictException('broken');
    const [one, other] = await Promise.all([
      this.dataSource.transaction((manager) => manager.findOneByOrFail(Toy, { id: toy.id })),
      this.toys.findOneByOrFail({ id: toy.id }),
    ]);
    if (one.name !== other.name) throw new Error('two views of one transaction');
    return one;
  }
}

@AnyScope()
@UseInterceptors(ClassSerializerInterceptor)
@Controller('toys')
class ToysController {
  constructor(
    private readonly toys: ToysService,
    @InjectRepository(Toy) private readonly repository: Repository<Toy>,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Post()
  @Idempotent()
  @Creates(Toy, { at: '/toys/:id' })
  addToy(@Body() toy: NewToy): Promise<Toy> {
    return this.toys.add(toy);
  }

  @Post('plain')
  @Idempotent()
  addPlainToy(@Body() toy: NewToy): Promise<Toy> {
    return this.toys.add(toy);
  }

  @Post('nothing')
  @Idempotent()
  async addNothing(): Promise<void> {
    await this.repository.insert({ id: BASE * 2n, name: 'nothing' });
  }

  /** By hand: what is remembered is not what is answered. */
  @Post('by-hand')
  @ApiIdempotent()
  async addByHand(
    @Body() toy: NewToy,
    @IdempotencyKey() request: IdempotentRequest | undefined,
  ): Promise<object> {
    const { answer, replayed } = await this.idempotency.transact(request, async (manager) => {
      const { id } = await this.toys.add(toy);
      await manager.update(Toy, { id }, { name: 'by hand' });
      return String(id);
    });
    return { id: BigInt(answer), replayed };
  }

  @Put(':id')
  @Creates(Toy, { at: '/toys/:id' })
  putToy(@Param('id', ParseIntPipe) id: number): object {
    return { id };
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
  let service: TestService;
  let client: Client;
  let next = 1;
  beforeAll(async () => {
    service = await startService({
      extensions: [{ module: ToysModule, migrations: [CreateToys1770000000000] }],
      env: { PUBLIC_BASE_URL: 'https://zoo.example/v1' },
    });
    client = await service.client();
  });
  afterAll(() => service?.close());

  const toy = (name = 'ball'): { id: number; name: string } => ({ id: next++, name });
  const post = (body: object | undefined, key: string, path = '') =>
    client.post(`/v1/toys${path}`, body, { 'idempotency-key': key });
  const count = async (): Promise<number> => Number((await client.get('/v1/toys')).text);

  it('gives a repeat the first answer, byte for byte, and does nothing again', async () => {
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

  it('remembers an answer that is empty', async () => {
    expect((await post(undefined, 'k2', '/nothing')).status).toBe(201);
    const again = await post(undefined, 'k2', '/nothing');
    expect([again.status, again.text]).toEqual([201, '']);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('is there by hand as well, with a key and without one', async () => {
    const body = toy();
    const before = await count();
    const first = await post(body, 'h1', '/by-hand');
    const id = BASE + BigInt(body.id);
    expect([first.status, first.text]).toEqual([201, `{"id":${id},"replayed":false}`]);
    expect((await post(body, 'h1', '/by-hand')).text).toBe(`{"id":${id},"replayed":true}`);
    expectError(await post(body, 'h1', '/plain'), 422, 'idempotency_key_reused');
    expectError(await post({ ...toy(), name: 'broken' }, 'h2', '/by-hand'), 409, 'conflict');
    expect((await client.post('/v1/toys/by-hand', toy())).status).toBe(201);
    expectError(
      await client.post('/v1/toys/by-hand', { ...toy(), name: 'broken' }),
      409,
      'conflict',
    );
    expect(await count()).toBe(before + 2);
  });

  it('keeps all of it or nothing: what fails leaves no row, and the key is free', async () => {
    const before = await count();
    const { id } = toy();
    expectError(await post({ id, name: 'broken' }, 'k4'), 409, 'conflict');
    expect(await count()).toBe(before);
    expect((await post({ id, name: 'mended' }, 'k4')).status).toBe(201);
    expectError(await post({ id: 'x' }, 'k5'), 400, 'invalid_request');
    expect((await post(toy(), 'k5')).status).toBe(201);
  });

  it('is created with 201 by whatever method', async () => {
    const answer = await client.send('/v1/toys/7', { method: 'PUT' });
    expect([answer.status, answer.headers.location]).toEqual([
      201,
      'https://zoo.example/v1/toys/7',
    ]);
  });
});
