import type { Config } from './config.js';

/**
 * The base address that callers use, with its version segment, for absolute URLs in responses.
 * It comes from the configuration, never from the `Host` header, which the caller chooses.
 */
export class PublicAddress {
  baseUrl = '';
  /** The origin, for public controllers and the documentation. */
  origin = '';

  constructor(private readonly config: Config) {
    this.listensOn(config.port);
  }

  /** @param port the actual port, since port 0 lets the system choose one */
  listensOn(port: number): void {
    this.baseUrl = this.config.publicBaseUrl ?? `http://localhost:${port}/v1`;
    this.origin = new URL(this.baseUrl).origin;
  }

  get docsUrl(): string {
    return `${this.origin}/docs`;
  }
}
