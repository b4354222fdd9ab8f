import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../http/public.decorator.js';
import type { ApiReply } from '../http/request.js';
import { Readiness } from './readiness.js';

@Public()
@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  live(): object {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: ApiReply) {
    const report = await this.readiness.check();
    if (report.status === 'unavailable') reply.code(503).header('retry-after', '2');
    return report;
  }
}
