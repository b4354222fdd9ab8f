import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { DocsFiles } from './docs.files.js';
import { DocumentSource } from './document.js';

@Module({
  controllers: [DocsController],
  providers: [DocumentSource, DocsFiles],
  exports: [DocumentSource, DocsFiles],
})
export class OpenApiModule {}
