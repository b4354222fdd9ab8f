import type { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

/** Standard output and standard error: what cannot be written there ends no process by itself. */
export class StandardStreams {
  private fault: NodeJS.ErrnoException | undefined;

  constructor(
    private readonly out: Writable = process.stdout,
    private readonly err: Writable = process.stderr,
  ) {
    out.on('error', (error) => (this.fault ??= error));
    err.on('error', () => undefined);
  }

  /**
   * Resolves once everything is written, however slow who reads it: to why it could not be, if so.
   * @param isWanted all of it: otherwise who reads may have had enough, as `head` has, and that is no failure
   */
  async written(isWanted: boolean): Promise<Error | undefined> {
    // The error of a file is told a moment later.
    await turn();
    await Promise.all([this.out, this.err].map(drained));
    return !isWanted && this.fault?.code === 'EPIPE' ? undefined : this.fault;
  }
}

async function drained(stream: Writable): Promise<void> {
  if (stream.writableLength === 0) return;
  // What comes last is done last, or fails with the rest.
  await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
