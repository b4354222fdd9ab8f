import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from './free-port.js';

const MAIN = resolve('dist/src/main.js');

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A working directory with its own database, in which the real program runs. */
export class Workplace implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'petstore-process-'));
  readonly databaseFile = join(this.directory, 'data', 'petstore.db');
  private readonly children = new Set<ChildProcess>();

  /** @param main the program */
  constructor(
    private readonly env: Record<string, string> = {},
    private readonly main = MAIN,
  ) {}

  /** Writes a file into the directory. */
  write(name: string, text: string): void {
    writeFileSync(join(this.directory, name), text);
  }

  /** Runs one command to its end. */
  async run(...args: string[]): Promise<Finished> {
    const child = this.start(args);
    const [stdout, stderr] = [collect(child.stdout!), collect(child.stderr!)];
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout: stdout.text, stderr: stderr.text };
  }

  /** Runs one command with `--json`, which must succeed. @returns the parsed output */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects it to be
  async json(...args: string[]): Promise<any> {
    const { code, stdout, stderr } = await this.run(...args, '--json');
    if (code !== 0) throw new Error(`petstore ${args.join(' ')}: exit ${code}: ${stderr}`);
    return JSON.parse(stdout) as unknown;
  }

  /** Starts `petstore serve`; resolves once it is ready. */
  async serve(env: Record<string, string> = {}, ...args: string[]): Promise<Served> {
    const { PORT: port = String(await freePort()) } = env;
    const child = this.start(['serve', ...args], { METRICS_PORT: '0', ...env, PORT: port });
    const closed = once(child, 'close') as Promise<[number | null]>;
    const [stdout, stderr] = [collect(child.stdout!), collect(child.stderr!)];
    const origin = `http://127.0.0.1:${port}`;
    const deadline = performance.now() + 120_000;
    let refusal: string | undefined;
    for (;;) {
      const { exitCode, signalCode } = child;
      const hasEnded = exitCode !== null || signalCode !== null;
      if (hasEnded || performance.now() > deadline) {
        const how = hasEnded ? `ended by ${signalCode ?? exitCode}` : `said ${refusal}`;
        throw new Error(`petstore serve did not start, ${how}: ${stdout.text}${stderr.text}`);
      }
      const asked = fetch(`${origin}/health/ready`);
      refusal = await asked.then((answer) => (answer.ok ? undefined : answer.text()), String);
      if (refusal === undefined) break;
      await new Promise((resume) => setTimeout(resume, 25));
    }
    return {
      origin,
      pid: child.pid!,
      output: () => stdout.text + stderr.text,
      stop: async (signal = 'SIGTERM') => {
        child.kill(signal);
        return (await closed)[0];
      },
    };
  }

  [Symbol.dispose](): void {
    this.remove();
  }

  remove(): void {
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }

  /**
   * Starts a command. It is killed at the end of the workplace. @param stdout a file descriptor, or
   * a pipe
   */
  start(
    args: string[],
    env: Record<string, string> = {},
    stdout: 'pipe' | number = 'pipe',
  ): ChildProcess {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [this.main, ...args], {
      cwd: this.directory,
      // A busy machine must not cause 503 responses.
      env: { PATH, SHED_AFTER_MS: '0', ...this.env, ...env },
      stdio: ['ignore', stdout, 'pipe'],
    });
    this.children.add(child);
    child.once('close', () => this.children.delete(child));
    return child;
  }
}

export interface Served {
  origin: string;
  pid: number;
  output(): string;
  /** Resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

function collect(stream: NodeJS.ReadableStream): { text: string } {
  const collected = { text: '' };
  stream.on('data', (chunk: Buffer) => (collected.text += chunk.toString()));
  return collected;
}
