import { Module } from '@nestjs/common';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { DocsAssets } from './docs.assets.js';
import { DocsController } from './docs.controller.js';
import { DocsPages } from './docs.pages.js';
import { DocumentSource } from './document-source.js';
import { PageLimitGuard } from './page-limit.guard.js';

@Module({
  imports: [RateLimitsModule],
  controllers: [DocsController],
  providers: [DocumentSource, DocsAssets, DocsPages, PageLimitGuard],
  exports: [DocumentSource],
})
export class OpenApiModule {}
