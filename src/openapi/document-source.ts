import { type INestApplication, Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Config } from '../config/config.js';
import { buildDocument } from './document.js';

/** The document as text. It is built on request, which keeps the start fast. */
@Injectable()
export class DocumentSource {
  private app: INestApplication | undefined;

  constructor(private readonly config: Config) {}

  /** Called once the application is assembled. */
  describes(app: INestApplication): void {
    this.app = app;
  }

  json(): string {
    return `${JSON.stringify(this.document(), null, 2)}\n`;
  }

  async yaml(): Promise<string> {
    const { stringify } = await import('yaml');
    return stringify(this.document(), { aliasDuplicateObjects: false });
  }

  private document(): OpenAPIObject {
    return buildDocument(this.app!, this.config);
  }
}
