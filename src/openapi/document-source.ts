import type { INestApplication, Type } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { buildDocument } from './openapi.js';

/** The document as text, built when it is asked for: not every start has to wait for it. */
@Injectable()
export class DocumentSource {
  private app: INestApplication | undefined;
  private ours: ReadonlySet<Type> = new Set();

  constructor(private readonly config: Config) {}

  /** Told once the application that it describes is assembled. @param ours the modules that are no guest's */
  describes(app: INestApplication, ours: ReadonlySet<Type>): void {
    this.app = app;
    this.ours = ours;
  }

  json(): string {
    return `${JSON.stringify(this.document(), null, 2)}\n`;
  }

  async yaml(): Promise<string> {
    // Loaded on demand: hardly anyone asks for it.
    const { stringify } = await import('yaml');
    return stringify(this.document(), { aliasDuplicateObjects: false });
  }

  private document(): object {
    return buildDocument(this.app!, this.config, this.ours);
  }
}
