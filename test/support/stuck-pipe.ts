import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PAGE_BYTES = 4_096;

/** A full pipe that only the test reads. */
export class StuckPipe implements Disposable {
  /** For another process to write to. */
  readonly fd: number;
  readonly capacityBytes: number;
  private readonly reader: number;

  constructor() {
    const directory = mkdtempSync(join(tmpdir(), 'petstore-pipe-'));
    const path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);
    this.reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    rmSync(directory, { recursive: true });
    const page = Buffer.alloc(PAGE_BYTES);
    let bytes = 0;
    for (;;) {
      const written = unlessBlocked(() => writeSync(this.fd, page));
      if (written === 0) break;
      bytes += written;
    }
    this.capacityBytes = bytes;
  }

  /** Up to one page of the content; empty if there is none. */
  read(): Buffer {
    const page = Buffer.alloc(PAGE_BYTES);
    return page.subarray(
      0,
      unlessBlocked(() => readSync(this.reader, page)),
    );
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    closeSync(this.reader);
  }
}

function unlessBlocked(work: () => number): number {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}
