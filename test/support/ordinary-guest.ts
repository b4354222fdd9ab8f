import {
  Body,
  type CallHandler,
  type CanActivate,
  ConflictException,
  Controller,
  createParamDecorator,
  Delete,
  type ExecutionContext,
  Get,
  Header,
  Headers,
  HttpCode,
  Injectable,
  type NestInterceptor,
  NotFoundException,
  Param,
  ParseArrayPipe,
  ParseIntPipe,
  type PipeTransform,
  Post,
  Put,
  Query,
  Redirect,
  Req,
  Res,
  StreamableFile,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
} from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
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
import { map, type Observable } from 'rxjs';
import { AnyScope } from '../../src/index.js';
import { z } from 'zod';

/** A guest that knows nothing of ours: every line is as Nest's own documentation writes it. */

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

  /** The DTO's own: no rule. */
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
const KennelQuery = z.object({ open: z.enum(['yes', 'no']), near: z.array(z.string()).optional() });

@Injectable()
export class UpperCasePipe implements PipeTransform<string, string> {
  transform(value: string): string {
    return value.toUpperCase();
  }
}

@Injectable()
class BodyAwareGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body } = context.switchToHttp().getRequest<FastifyRequest<{ Body: { open?: true } }>>();
    return body?.open === true;
  }
}

@Injectable()
class WrapInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

const Sender = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    (context.switchToHttp().getRequest<FastifyRequest>().body as { sender?: string }).sender,
);

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

  @Post('list')
  list(@Body(new ParseArrayPipe({ items: Toy })) toys: Toy[]): object {
    return { count: toys.length, areToys: toys.every((toy) => toy instanceof Toy) };
  }

  @Put('own-pipe')
  ownPipe(@Body(new ValidationPipe({ transform: true, whitelist: true })) toy: Toy): object {
    return toy;
  }

  @Post('request')
  request(@Req() request: FastifyRequest): object {
    return { body: request.body ?? null };
  }

  @Post('sender')
  sender(@Sender() sender: string): object {
    return { sender };
  }

  @Post('guarded')
  @UseGuards(BodyAwareGuard)
  @HttpCode(202)
  guarded(): object {
    return { open: true };
  }

  @Post('nothing')
  nothing(): object {
    return {};
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

  @Get('page')
  page(@Query('page') page?: string): object {
    return { page: page ?? null };
  }

  @Get('paging')
  paging(@Query() paging: Paging): object {
    return { isPaging: paging instanceof Paging, ...paging };
  }

  @Get('documented')
  @ApiQuery({ name: 'colour' })
  @ApiQuery({ name: 'size', isArray: true })
  documented(@Query() query: Record<string, unknown>): object {
    return query;
  }

  @Get('numbers/:id')
  number(@Param('id', ParseIntPipe) id: number, @Query('add', ParseIntPipe) add: number): object {
    return { sum: id + add };
  }

  @Get('shout/:word')
  shout(@Param('word', UpperCasePipe) word: string, @Headers('x-mood') mood?: string): object {
    return { word, mood: mood ?? null };
  }

  @Get('conflict')
  conflict(): never {
    throw new ConflictException('Already visited');
  }

  @Get('coded')
  coded(): never {
    throw new NotFoundException({ code: 'visit_not_found', message: 'There is no such visit' });
  }

  @Get('wrapped')
  @UseInterceptors(WrapInterceptor)
  wrapped(): object {
    return { inside: true };
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
  remove(@Param('id', ParseIntPipe) id: number): void {
    if (id === 0) throw new NotFoundException();
  }
}
