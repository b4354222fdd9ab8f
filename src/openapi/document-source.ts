import {
  type INestApplication,
  Injectable,
  type OnApplicationBootstrap,
  type Type,
} from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Config } from '../config/config.js';
import { operationsOf } from '../http/operations.js';
import { Logger } from '../telemetry/logger.js';
import { buildDocument } from './document.js';

/** The document as text. It is built on request, which keeps the start fast. */
@Injectable()
export class DocumentSource implements OnApplicationBootstrap {
  private app: INestApplication | undefined;
  private core: ReadonlySet<Type> = new Set();

  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  /** Called once the application is assembled. @param core modules of the service itself */
  describes(app: INestApplication, core: ReadonlySet<Type>): void {
    this.app = app;
    this.core = core;
  }

  /** With extensions, builds the document once: the generator logs a warning for each name that two schemas have. */
  onApplicationBootstrap(): void {
    if (this.app === undefined) return;
    if (operationsOf(this.app).every(({ module }) => this.core.has(module))) return;
    try {
      this.document();
    } catch (error) {
      this.logger.warn({ err: error }, 'The OpenAPI document cannot be built');
    }
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
