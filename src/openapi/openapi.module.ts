import { Module } from '@nestjs/common';
import { DocsAssets } from './docs.assets.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { DocsController } from './docs.controller.js';
import { DocumentSource } from './document-source.js';
import { Guides } from './guides.js';

@Module({
  imports: [RateLimitsModule],
  controllers: [DocsController],
  providers: [DocumentSource, DocsAssets, Guides],
  exports: [DocumentSource],
})
export class OpenApiModule {}
