// Nest as its guides teach it: techniques/database, techniques/validation, techniques/serialization,
// security/authentication, security/rate-limiting; the access line of nestjs-pino.
// Arguments: `sqlite:PATH` or `postgres://...` with the schema in place, and the port.
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import {
  Body,
  type CallHandler,
  type CanActivate,
  ClassSerializerInterceptor,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  UnauthorizedException,
  UseInterceptors,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { InjectRepository, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { LoggerModule } from 'nestjs-pino';
import { Histogram } from 'prom-client';
import { finalize, type Observable } from 'rxjs';
import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn, Repository } from 'typeorm';

const UNLIMITED = 1_000_000_000;
const [, , databaseUrl, port] = process.argv as [string, string, string, string];

@Entity('pets')
class Pet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ name: 'category_id' })
  categoryId!: number;

  @Column({ type: 'varchar', nullable: true })
  status!: string | null;
}

@Entity('api_keys')
class ApiKey {
  @PrimaryColumn()
  id!: string;

  @Column()
  digest!: string;
}

class ListPetsDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;
}

class CreatePetDto {
  @IsString()
  @Length(1, 255)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsOptional()
  @IsIn(['available', 'pending', 'sold'])
  status?: string;
}

@Injectable()
class PetsService {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  findAll({ limit }: ListPetsDto): Promise<Pet[]> {
    return this.pets.find({ order: { id: 'ASC' }, take: limit });
  }

  async findOne(id: number): Promise<Pet> {
    const pet = await this.pets.findOneBy({ id });
    if (pet === null) throw new NotFoundException();
    return pet;
  }

  create(pet: CreatePetDto): Promise<Pet> {
    return this.pets.save(this.pets.create(pet));
  }
}

@Controller('v1/pets')
@UseInterceptors(ClassSerializerInterceptor)
class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  findAll(@Query() query: ListPetsDto): Promise<Pet[]> {
    return this.pets.findAll(query);
  }

  @Get(':id')
  findOne(@Param('id', ParseIntPipe) id: number): Promise<Pet> {
    return this.pets.findOne(id);
  }

  @Post()
  create(@Body() pet: CreatePetDto): Promise<Pet> {
    return this.pets.create(pet);
  }
}

type Authorized = { headers: { authorization?: string } };

@Injectable()
class ApiKeyGuard implements CanActivate {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { headers } = context.switchToHttp().getRequest<Authorized>();
    const [scheme, key = ''] = headers.authorization?.split(' ') ?? [];
    const digest = createHash('sha256').update(key).digest('base64url');
    const known = scheme === 'Bearer' && (await this.keys.findOneBy({ digest }));
    if (!known) throw new UnauthorizedException();
    return true;
  }
}

/** Counts by key instead of by address. */
@Injectable()
class KeyThrottlerGuard extends ThrottlerGuard {
  protected override getTracker({ headers }: Authorized): Promise<string> {
    return Promise.resolve(headers.authorization ?? '');
  }
}

@Injectable()
class DurationInterceptor implements NestInterceptor {
  private readonly durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the guards to the end of the handler.',
    labelNames: ['operation', 'method', 'status'],
  });

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const stop = this.durations.startTimer({ operation: context.getHandler().name });
    const http = context.switchToHttp();
    const { method } = http.getRequest<{ method: string }>();
    const reply = http.getResponse<{ statusCode: number }>();
    return next.handle().pipe(finalize(() => stop({ method, status: reply.statusCode })));
  }
}

function database(url: string): TypeOrmModuleOptions {
  if (url.startsWith('postgres:')) {
    return { type: 'postgres', url, poolSize: 10, parseInt8: true };
  }
  return {
    type: 'better-sqlite3',
    database: url.slice('sqlite:'.length),
    enableWAL: true,
    prepareDatabase: (file: { pragma(text: string): void }) => file.pragma('synchronous = FULL'),
  };
}

@Module({
  imports: [
    LoggerModule.forRoot(),
    TypeOrmModule.forRoot({ ...database(databaseUrl), entities: [Pet, ApiKey] }),
    TypeOrmModule.forFeature([Pet, ApiKey]),
    ThrottlerModule.forRoot([
      { name: 'minute', ttl: 60_000, limit: UNLIMITED },
      { name: 'day', ttl: 86_400_000, limit: UNLIMITED },
    ]),
  ],
  controllers: [PetsController],
  providers: [
    PetsService,
    { provide: APP_INTERCEPTOR, useClass: DurationInterceptor },
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: KeyThrottlerGuard },
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter());
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
await app.listen(Number(port), '127.0.0.1');
