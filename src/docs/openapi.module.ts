import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { DocumentSource } from './document.js';

@Module({
  controllers: [DocsController],
  providers: [DocumentSource],
  exports: [DocumentSource],
})
export class OpenApiModule {}
