import {
  type ArgumentsHost,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  Get,
  Module,
  Param,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { AnyScope } from 'pet-store-service';
import { expectError } from '../support/expectations.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService } from '../support/start-service.js';

@Catch()
class TeapotFilter implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().code(418).send('teapot');
  }
}

@Module({ providers: [{ provide: APP_FILTER, useClass: TeapotFilter }] })
class TeapotModule {}

class StrangeError extends Error {}

@Catch(StrangeError, ConflictException)
class ReportingFilter extends BaseExceptionFilter {}

@AnyScope()
@Controller('failures')
class FailuresController {
  @Get(':kind')
  fail(@Param('kind') kind: string): never {
    throw kind === 'strange' ? new StrangeError('a secret') : new ConflictException('Taken');
  }
}

@Module({
  controllers: [FailuresController],
  providers: [{ provide: APP_FILTER, useClass: ReportingFilter }],
})
class ReportingModule {}

describe('the transport', () => {
  it('sends the Error body for a filter that extends BaseExceptionFilter', async () => {
    await using service = await startService({ extensions: [{ module: ReportingModule }] });
    const client = await service.client();
    const conflict = await client.get('/v1/failures/conflict');
    expectError(conflict, 409, 'conflict');
    expect(conflict.json().message).toBe('Taken');
    const strange = await client.get('/v1/failures/strange');
    expectError(strange, 500, 'internal_error');
    expect(strange.text).not.toContain('secret');
  });

  it('keeps the exception filters of two applications in one process apart', async () => {
    await using other = await startService({ extensions: [{ module: TeapotModule }] });
    await using service = await startService();
    expect((await (await other.client()).get('/v1/nope')).status).toBe(418);
    const client = await service.client();
    expectError(await client.get('/v1/nope'), 404, 'not_found');
    expectError(await client.get('/v1/pets?limit=0'), 400, 'invalid_request');
  });

  it.each([
    ['off', {}, 1],
    ['on', { TRUST_PROXY: '10.0.0.0/8' }, 0],
  ])('warns once of X-Forwarded-For while TRUST_PROXY is off: %s', async (_what, env, count) => {
    const { logger, lines } = recordedLog();
    await using service = await startService({ logger, env });
    for (let request = 0; request < 2; request++) {
      await service.anonymous().get('/health/live', { 'x-forwarded-for': '192.0.2.1' });
    }
    const warnings = lines.filter(({ message }) =>
      message.startsWith('X-Forwarded-For is ignored'),
    );
    expect(warnings.map(({ level }) => level)).toEqual(Array.from({ length: count }, () => 'warn'));
  });

  it('keeps an idle connection open for KEEP_ALIVE_SECONDS', async () => {
    await using service = await startService({ env: { KEEP_ALIVE_SECONDS: '610' } });
    const { headers } = await service.anonymous().get('/health/live');
    expect(headers['keep-alive']).toBe('timeout=610');
  });
});
