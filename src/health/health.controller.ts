import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../http/public.decorator.js';
import { type ApiReply } from '../http/request-context.js';
import { Readiness } from './readiness.js';

/** Sends its responses itself, so that no interceptor of an extension changes what probes expect. */
@Public()
@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  live(@Res() reply: ApiReply): void {
    void reply.send({ status: 'ok' });
  }

  @Get('ready')
  async ready(@Res() reply: ApiReply): Promise<void> {
    const report = await this.readiness.check();
    if (report.status === 'unavailable') reply.code(503).header('retry-after', '2');
    void reply.send(report);
  }
}
