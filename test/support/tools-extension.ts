import { setImmediate as nextTick } from 'node:timers/promises';
import {
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Logger,
  Module,
  type NestInterceptor,
  Post,
  Req,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { ApiExcludeController } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AnyScope, defineExtension, type PetEvent, requestContext } from 'pet-store-service';
import { map, type Observable } from 'rxjs';
import { DataSource } from 'typeorm';
import { petName, type ToolAnswer, type ToolCall } from './tools.js';

const requestOf = (context: ExecutionContext): FastifyRequest =>
  context.switchToHttp().getRequest<FastifyRequest>();

/** Logs an error for code of a request or event that runs in the context of another one. */
@Injectable()
class ContextCheck implements CanActivate, NestInterceptor {
  private readonly logger = new Logger('ContextCheck');

  canActivate(context: ExecutionContext): boolean {
    this.expectContext(requestOf(context).id, 'guard');
    return true;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { id } = requestOf(context);
    return next.handle().pipe(map((data: unknown) => (this.expectContext(id, 'handler'), data)));
  }

  @OnEvent('pet.created')
  async petCreated({ pet, requestId, clientId }: PetEvent): Promise<void> {
    this.expectContext(requestId, 'event');
    await nextTick();
    this.expectContext(requestId, 'event, a tick later');
    const isNamed = pet.name.includes(' of key_');
    if (isNamed && pet.name !== petName(requestId!, clientId!)) {
      this.logger.error(`The event of ${pet.name} has ${requestId} and ${clientId}`);
    }
  }

  private expectContext(id: string | undefined, what: string): void {
    const found = requestContext.getStore()?.id;
    if (found !== id) this.logger.error(`${what} of ${id} runs in the context of ${found}`);
  }
}

class RolledBack extends Error {}

/** Calls operations within the process, as examples/mcp does. */
@AnyScope()
@SkipThrottle()
@ApiExcludeController()
@Controller('tools')
class ToolsController {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly dataSource: DataSource,
  ) {}

  @Post('call')
  @HttpCode(200)
  call(@Body() call: ToolCall, @Req() request: FastifyRequest): Promise<ToolAnswer> {
    return this.inject(call, request);
  }

  /** Calls an operation within a transaction, and rolls the transaction back. */
  @Post('call-and-roll-back')
  @HttpCode(200)
  async callAndRollBack(
    @Body() call: ToolCall,
    @Req() request: FastifyRequest,
  ): Promise<ToolAnswer | undefined> {
    let answer: ToolAnswer | undefined;
    const work = this.dataSource.transaction(async () => {
      answer = await this.inject(call, request);
      throw new RolledBack();
    });
    await work.catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
    return answer;
  }

  /** Starts an operation within a transaction, and waits for it after the transaction. */
  @Post('start-and-roll-back')
  @HttpCode(200)
  async startAndRollBack(
    @Body() call: ToolCall,
    @Req() request: FastifyRequest,
  ): Promise<ToolAnswer | undefined> {
    let answer: Promise<ToolAnswer> | undefined;
    const work = this.dataSource.transaction(async () => {
      answer = this.inject(call, request);
      // The operation starts within the transaction. On SQLite, it has to wait for its end.
      for (let tick = 0; tick < 10; tick++) await nextTick();
      throw new RolledBack();
    });
    await work.catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
    return answer;
  }

  /** In a tick in which no other request has started yet. */
  private async inject(call: ToolCall, caller: FastifyRequest): Promise<ToolAnswer> {
    await nextTick();
    const { method, url, body } = call;
    const headers = { ...call.headers, authorization: caller.headers.authorization! };
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const request = { method: method as 'GET', url, headers, remoteAddress: caller.ip };
    const response = await fastify.inject(body === undefined ? request : { ...request, body });
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      text: response.body,
    };
  }
}

@Module({
  controllers: [ToolsController],
  providers: [
    ContextCheck,
    { provide: APP_GUARD, useExisting: ContextCheck },
    { provide: APP_INTERCEPTOR, useExisting: ContextCheck },
  ],
})
class ToolsModule {}

/** An extension with tools, which also checks the context of every request and event. */
export const tools = defineExtension({
  name: 'tools',
  compatibility: '^1.0.0',
  module: ToolsModule,
});
