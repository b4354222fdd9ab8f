import { Module } from '@nestjs/common';
import { DocsAssets } from './docs.assets.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { DocsController } from './docs.controller.js';
import { DocumentSource } from './document-source.js';
import { Guides } from './guides.js';
import { PageLimitGuard } from './page-limit.guard.js';

@Module({
  imports: [RateLimitsModule],
  controllers: [DocsController],
  providers: [DocumentSource, DocsAssets, Guides, PageLimitGuard],
  exports: [DocumentSource],
})
export class OpenApiModule {}
