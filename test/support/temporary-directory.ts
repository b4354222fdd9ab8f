import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory that is removed at the end of the block. */
export class TemporaryDirectory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'petstore-test-'));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
