import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';

/**
 * The base address that callers use, with its version segment, for absolute URLs in responses.
 * It comes from the configuration and never from a request: a `Host` header is the caller's to choose.
 */
@Injectable()
export class PublicAddress {
  private base: string;

  constructor(private readonly config: Config) {
    this.base = config.publicBaseUrl ?? `http://localhost:${config.port}/v1`;
  }

  /** Told once listening: port 0 lets the system choose one. */
  listensOn(port: number): void {
    this.base = this.config.publicBaseUrl ?? `http://localhost:${port}/v1`;
  }

  get baseUrl(): string {
    return this.base;
  }

  /** Of what is served beside the base path: public controllers, and the documentation. */
  get origin(): string {
    return new URL(this.base).origin;
  }

  get docsUrl(): string {
    return `${this.origin}/docs`;
  }
}
