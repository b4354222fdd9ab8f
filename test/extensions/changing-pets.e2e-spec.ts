import {
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  Delete,
  type ExecutionContext,
  ForbiddenException,
  Get,
  HttpCode,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  Put,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsString, Length } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { bigintColumn, errors, Int64Pipe, RequireScope } from 'pet-store-service';
import { concatMap, type Observable } from 'rxjs';
import {
  Column,
  Entity,
  type MigrationInterface,
  PrimaryColumn,
  type QueryRunner,
  Repository,
} from 'typeorm';
import { expectError } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

/** A second entity on the table of pets, with the column that the extension adds. */
@Entity('pets', { synchronize: false })
class PetWithBreed {
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn })
  id!: bigint;

  @Column({ name: 'shop_breed', type: 'varchar', length: 40, nullable: true })
  breed!: string | null;
}

class AddBreed1780000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "pets" ADD COLUMN "shop_breed" varchar(40)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "pets" DROP COLUMN "shop_breed"');
  }
}

class Breed {
  @IsString()
  @Length(1, 40)
  breed!: string;
}

@Controller('pets/:petId')
class BreedsController {
  constructor(@InjectRepository(PetWithBreed) private readonly pets: Repository<PetWithBreed>) {}

  @Get('breed')
  @RequireScope('pets:read')
  async get(@Param('petId', Int64Pipe) id: bigint): Promise<Breed> {
    const pet = await this.pets.findOneBy({ id });
    if (!pet?.breed) throw errors.not_found(`The pet ${id} has no breed`);
    return { breed: pet.breed };
  }

  @Put('breed')
  @RequireScope('pets:write')
  async set(@Param('petId', Int64Pipe) id: bigint, @Body() { breed }: Breed): Promise<Breed> {
    await this.pets.update({ id }, { breed });
    return { breed };
  }

  @Delete()
  @RequireScope('pets:write')
  @HttpCode(204)
  async remove(@Param('petId', Int64Pipe) id: bigint): Promise<void> {
    await this.pets.delete({ id });
  }
}

/** Adds the breed to the answer of getPet. */
@Injectable()
class BreedInterceptor implements NestInterceptor {
  constructor(@InjectRepository(PetWithBreed) private readonly pets: Repository<PetWithBreed>) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getHandler().name !== 'getPet') return next.handle();
    return next.handle().pipe(
      concatMap(async (answer: { id: bigint }) => {
        const pet = await this.pets.findOneBy({ id: BigInt(answer.id) });
        return { ...answer, breed: pet?.breed ?? null };
      }),
    );
  }
}

/** Restricts createPet by its body and its caller. */
@Injectable()
class NoDragons implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, caller } = context
      .switchToHttp()
      .getRequest<FastifyRequest<{ Body?: { name?: unknown } }>>();
    if (body?.name === 'Dragon' && caller?.plan !== 'enterprise') {
      throw new ForbiddenException('No dragons');
    }
    return true;
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([PetWithBreed])],
  controllers: [BreedsController],
  providers: [
    { provide: APP_INTERCEPTOR, useClass: BreedInterceptor },
    { provide: APP_GUARD, useClass: NoDragons },
  ],
})
class BreedsModule {}

describe('an extension that adds to pets', () => {
  const { service, client } = useService({
    extensions: [{ module: BreedsModule, migrations: [AddBreed1780000000000] }],
  });

  it('adds methods and resources under the path of a pet, and a column to pets', async () => {
    const { id } = (await client.post('/v1/pets', { name: 'Rex', categoryId: 7 })).json();
    expect((await client.put(`/v1/pets/${id}/breed`, { breed: 'Collie' })).status).toBe(200);
    expect((await client.get(`/v1/pets/${id}/breed`)).json()).toEqual({ breed: 'Collie' });
    const wrong = await client.put(`/v1/pets/${id}`, {});
    expectError(wrong, 405, 'method_not_allowed');
    expect(wrong.headers.allow).toBe('DELETE, GET, HEAD');
    const found = await client.get(`/v1/pets/${id}`);
    expect(found.json()).toEqual({ id, name: 'Rex', categoryId: 7, breed: 'Collie' });
    expect(found.headers).toHaveProperty('deprecation');
    expect((await client.send(`/v1/pets/${id}`, { method: 'DELETE' })).status).toBe(204);
    expectError(await client.get(`/v1/pets/${id}`), 404, 'pet_not_found');
  });

  it('restricts an operation of the service by a global guard', async () => {
    const pro = await service.client({ plan: 'pro' });
    expectError(await pro.post('/v1/pets', { name: 'Dragon', categoryId: 7 }), 403, 'forbidden');
    expect((await client.post('/v1/pets', { name: 'Dragon', categoryId: 7 })).status).toBe(201);
  });

  it('cannot add a member to the body of createPet', async () => {
    const answer = await client.post('/v1/pets', { name: 'Rex', categoryId: 7, breed: 'Collie' });
    expectError(answer, 400, 'invalid_request');
  });
});
