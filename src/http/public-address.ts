import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';

/**
 * The base address that callers use, with its version segment, for absolute URLs in responses.
 * It comes from the configuration and never from a request: a `Host` header is the caller's to choose.
 */
@Injectable()
export class PublicAddress {
  baseUrl: string;

  constructor(private readonly config: Config) {
    this.baseUrl = config.publicBaseUrl ?? `http://localhost:${config.port}/v1`;
  }

  /** Told once listening: port 0 lets the system choose one. */
  listensOn(port: number): void {
    this.baseUrl = this.config.publicBaseUrl ?? `http://localhost:${port}/v1`;
  }

  /** Of what is served beside the base path: public controllers, and the documentation. */
  get origin(): string {
    return new URL(this.baseUrl).origin;
  }

  get docsUrl(): string {
    return `${this.origin}/docs`;
  }
}
