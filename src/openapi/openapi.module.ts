import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { DocsFiles } from './docs.files.js';
import { DocumentSource } from './document.js';
import { PageLimitGuard } from './page-limit.guard.js';

@Module({
  controllers: [DocsController],
  providers: [DocumentSource, DocsFiles, PageLimitGuard],
  exports: [DocumentSource, DocsFiles, PageLimitGuard],
})
export class OpenApiModule {}
