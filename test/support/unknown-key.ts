import { mintKey } from '../../src/core/keys/api-key-format.js';

/** A key with a valid checksum that no service has issued. */
export function unknownKey(): string {
  return mintKey();
}
