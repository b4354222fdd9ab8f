import {
  Controller,
  Get,
  HttpException,
  InternalServerErrorException,
  Module,
  Param,
} from '@nestjs/common';
import type { Logger } from '../../src/telemetry/logger.js';
import type { Client } from '../support/client.js';
import { expectRateHeaders } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';
import { AnyScope } from '../../src/index.js';

@AnyScope()
@Controller('broken')
class BrokenController {
  @Get('throws')
  throws(): never {
    throw new TypeError('secret detail at /home/x.js');
  }

  @Get('throws-text')
  throwsText(): never {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- what a careless guest might do
    throw 'secret';
  }

  @Get('nest')
  nest(): never {
    throw new InternalServerErrorException('secret');
  }

  @Get('without-content/:status')
  withoutContent(@Param('status') status: string): never {
    throw new HttpException('', Number(status));
  }

  @Get('big')
  big(): object {
    return { id: 9223372036854775807n, list: [1n] };
  }
}

@Module({ controllers: [BrokenController] })
class BrokenModule {}

describe('a failure', () => {
  let service: TestService;
  let client: Client;
  const lines: { level: string; details: Record<string, unknown> }[] = [];
  beforeAll(async () => {
    const note = (level: string) => (details: object) =>
      void lines.push({ level, details: details as Record<string, unknown> });
    const logger: Logger = {
      fatal: note('fatal'),
      error: note('error'),
      warn: note('warn'),
      info: note('info'),
      debug: note('debug'),
      flush: () => undefined,
    };
    service = await startService({ extensions: [{ module: BrokenModule }], logger });
    client = await service.client();
  });
  afterAll(() => service?.close());
  afterEach(() => jest.restoreAllMocks());

  it.each([204, 304])('with %i, which has no content, tells of none', async (status) => {
    const answer = await client.get(`/v1/broken/without-content/${status}`);
    expect([answer.status, answer.text]).toEqual([status, '']);
    expectRateHeaders(answer);
    expect(answer.headers).not.toHaveProperty('content-length');
    expect(answer.headers).not.toHaveProperty('content-type');
  });

  it('to write a BigInt is none: it is written with all of its digits', async () => {
    const answer = await client.get('/v1/broken/big');
    expect(answer.text).toBe('{"id":9223372036854775807,"list":[1]}');
  });
});
