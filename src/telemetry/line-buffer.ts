import { fstatSync, writeSync } from 'node:fs';
import { type DestinationStream, destination } from 'pino';

const CHUNK_BYTES = 16_384;
const MAX_BYTES_PER_UNIT = 3;
const FLUSH_INTERVAL_MS = 200;

/** What pino's types leave out of its destination. */
const BYTES = { contentMode: 'buffer' };
interface ByteDestination {
  readonly destroyed: boolean;
  write(bytes: Buffer): boolean;
  flushSync(): void;
}

/**
 * Gathers log lines for a moment, as bytes: a write call per line costs more than the line, and so does
 * measuring a growing string with every line, which is how pino's own destination gathers.
 */
export class LineBuffer implements DestinationStream {
  private readonly destination: ByteDestination;
  private chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  private used = 0;

  /** @param fd a file descriptor that is open for writing */
  constructor(private readonly fd: number) {
    // A file takes a chunk sooner than another thread could be woken for it; a pipe may make us wait.
    const sync = fstatSync(fd).isFile();
    this.destination = destination({ fd, sync, ...BYTES }) as unknown as ByteDestination;
    setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
    if (buffers.push(this) === 1) process.on('exit', writeOut);
  }

  write(line: string): void {
    const atMost = line.length * MAX_BYTES_PER_UNIT;
    if (atMost > CHUNK_BYTES - this.used) this.flush();
    if (atMost > CHUNK_BYTES) this.destination.write(Buffer.from(line));
    else this.used += this.chunk.write(line, this.used);
  }

  /** Passes on what is gathered; it is written without anyone waiting for it. */
  flush(): void {
    if (this.used === 0) return;
    this.destination.write(this.chunk.subarray(0, this.used));
    this.chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.used = 0;
  }

  /** Writes what is left before the process ends, in whatever state it is. */
  flushSync(): void {
    // pino closes its destination once the event loop is empty.
    if (this.destination.destroyed) {
      writeSync(this.fd, this.chunk.subarray(0, this.used));
      this.used = 0;
    } else {
      this.flush();
      this.destination.flushSync();
    }
  }
}

const buffers: LineBuffer[] = [];

function writeOut(): void {
  for (const buffer of buffers) {
    try {
      buffer.flushSync();
    } catch {
      // Nobody reads the log any more.
    }
  }
}
