import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  ConflictException,
  Controller,
  Delete,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  Headers,
  HttpCode,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  Param,
  ParseIntPipe,
  type PipeTransform,
  Post,
  Put,
  Query,
  Redirect,
  Req,
  Res,
  Scope,
  StreamableFile,
  UseFilters,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE, REQUEST } from '@nestjs/core';
import { type } from 'arktype';
import { Transform, Type } from 'class-transformer';
import {
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnyScope, ApiErrors, defineErrors, defineExtension, Public } from 'pet-store-service';
import { map, type Observable } from 'rxjs';
import * as v from 'valibot';
import { z } from 'zod';

export class Toy {
  @IsString()
  @Length(1, 5)
  name!: string;

  @IsInt()
  @Min(1)
  @Max(9)
  size!: number;
}

export class Visit {
  @IsString()
  @Matches(/^[A-Z]/)
  visitor!: string;

  @IsIn(['morning', 'evening'])
  when!: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => Toy)
  favourite?: Toy;

  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Toy)
  toys?: Toy[];

  @IsOptional()
  @IsString({ each: true })
  notes: string[] = [];
}

export class Paging {
  @IsOptional()
  @Transform(({ value }: { value: string }) => Number(value))
  @IsInt()
  @Min(1)
  page: number = 1;

  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  tags?: string[];
}

const Kennel = z.strictObject({ name: z.string().min(2), boxes: z.number().int().default(3) });
const KennelQuery = z.object({
  open: z.enum(['yes', 'no']),
  near: z.array(z.string()).optional(),
});

const Aviary = v.object({ name: v.pipe(v.string(), v.minLength(2)) });
const Stable = type({ name: 'string >= 2', 'horses?': 'number.integer' });

class ClosedForToday extends Error {}

@Catch(ClosedForToday)
class ClosedFilter implements ExceptionFilter<ClosedForToday> {
  catch({ message }: ClosedForToday, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().code(423).send({ closed: message });
  }
}

export const visitErrors = defineErrors({
  visit_over: { status: 409, meaning: 'The visit is over.' },
});

@AnyScope()
@Controller('visits')
export class VisitsController {
  @Post()
  create(@Body() visit: Visit): object {
    visit.notes.push('made');
    return { isVisit: visit instanceof Visit, isToy: visit.favourite instanceof Toy, visit };
  }

  @Post('name')
  name(@Body('name') name: string, @Body('age') age?: number): object {
    return { name, age };
  }

  @Post('plain')
  plain(@Body() body: Record<string, unknown>): object {
    return { isPlain: Object.getPrototypeOf(body) === Object.prototype, body };
  }

  @Put('own-pipe')
  ownPipe(@Body(new ValidationPipe({ transform: true, whitelist: true })) toy: Toy): object {
    return toy;
  }

  @Post('request')
  request(@Req() request: FastifyRequest): object {
    return { body: request.body ?? null };
  }

  @Post('nothing')
  nothing(): object {
    return {};
  }

  @Post('optional')
  optional(@Body() paging?: Paging): object {
    return { page: paging?.page ?? null };
  }

  @Post('kennels')
  kennel(@Body({ schema: Kennel }) kennel: z.infer<typeof Kennel>): object {
    return kennel;
  }

  @Get('kennels')
  kennels(@Query({ schema: KennelQuery }) query: z.infer<typeof KennelQuery>): object {
    return query;
  }

  @Get('kennels/:id')
  kennelOf(@Param('id', { schema: z.coerce.number().int().positive() }) id: number): object {
    return { id };
  }

  @Post('aviaries')
  aviary(@Body({ schema: Aviary }) aviary: v.InferOutput<typeof Aviary>): object {
    return aviary;
  }

  @Post('stables')
  stable(@Body({ schema: Stable }) stable: typeof Stable.infer): object {
    return stable;
  }

  @Get('page')
  page(@Query('page') page?: string): object {
    return { page: page ?? null };
  }

  @Get('paging')
  paging(@Query() paging: Paging): object {
    return { isPaging: paging instanceof Paging, ...paging };
  }

  @Get('numbers/:id')
  number(
    @Param('id', ParseIntPipe) id: number,
    @Query('add', ParseIntPipe) add: number,
    @Headers('x-mood') mood?: string,
  ): object {
    return { sum: id + add, mood };
  }

  @Get('files/*path')
  fileAt(@Param('path') path: string): object {
    return { path };
  }

  @Get('conflict')
  conflict(): never {
    throw new ConflictException('Already visited');
  }

  @Get('broken')
  broken(): never {
    throw new Error('a secret of the log');
  }

  @Get('over')
  @ApiErrors(visitErrors.visit_over, 'pet_not_found')
  over(): never {
    throw visitErrors.visit_over('The visit 7 is over');
  }

  @Get('closed')
  @UseFilters(ClosedFilter)
  closed(): never {
    throw new ClosedForToday('Monday');
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('woof'), { type: 'text/plain', disposition: 'inline' });
  }

  @Get('passthrough')
  @Header('x-kept', 'yes')
  passthrough(@Res({ passthrough: true }) reply: FastifyReply): object {
    reply.header('x-own', 'yes').code(203);
    return { ok: true };
  }

  @Get('moved')
  @Redirect('/v1/visits/page', 301)
  moved(): void {}

  @Delete(':id')
  @HttpCode(204)
  remove(): void {}
}

@Public()
@Controller('open/shop')
class ShopController {
  @Get(':id')
  item(@Param('id') id: string): object {
    return { id };
  }
}

@Injectable({ scope: Scope.REQUEST })
class Receipt {
  constructor(@Inject(REQUEST) readonly request: FastifyRequest) {}
}

@AnyScope()
@Controller('open/shop')
class TillController {
  constructor(private readonly receipt: Receipt) {}

  @Get('till')
  till(): object {
    return { requestId: this.receipt.request.headers['x-request-id'] };
  }
}

/** Names of the global parts of the extension that ran, in order. */
export const seen: string[] = [];

@Injectable()
class BodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body } = context
      .switchToHttp()
      .getRequest<FastifyRequest<{ Body?: { as?: string } }>>();
    seen.push(`guard ${body?.as ?? ''}`.trim());
    return body?.as !== 'burglar';
  }
}

@Injectable()
class RecordingPipe implements PipeTransform<unknown, unknown> {
  transform(value: unknown): unknown {
    seen.push('pipe');
    return value;
  }
}

@Injectable()
class RecordingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => (seen.push('interceptor'), data)));
  }
}

@Module({
  controllers: [VisitsController, ShopController, TillController],
  providers: [
    Receipt,
    { provide: APP_GUARD, useClass: BodyGuard },
    { provide: APP_PIPE, useClass: RecordingPipe },
    { provide: APP_INTERCEPTOR, useClass: RecordingInterceptor },
  ],
})
class OrdinaryModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: unknown, _reply: unknown, next: () => void) => {
        seen.push('middleware');
        next();
      })
      .forRoutes('*path');
  }
}

export const ordinaryExtension = defineExtension({
  name: 'ordinary',
  compatibility: '^1.0.0',
  module: OrdinaryModule,
  errors: visitErrors,
});
