import { Module } from '@nestjs/common';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { DocsController } from './docs.controller.js';
import { DocsFiles } from './docs.files.js';
import { DocumentSource } from './document.js';
import { PageLimitGuard } from './page-limit.guard.js';

@Module({
  imports: [RateLimitsModule],
  controllers: [DocsController],
  providers: [DocumentSource, DocsFiles, PageLimitGuard],
  exports: [DocumentSource, DocsFiles, PageLimitGuard, RateLimitsModule],
})
export class OpenApiModule {}
