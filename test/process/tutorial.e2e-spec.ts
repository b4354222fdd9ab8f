import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cloneOfRepository } from '../support/clone.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { applyEdit, blocksOf } from '../support/guide-edits.js';
import { PostgresServer } from '../support/postgres.js';

const START_MS = 120_000;
const SERVER = /^(?:\w+=\S+ )*(?:npm start|npx petstore serve)$/;

/** Instead of `npm install` in the folder of the extension. */
const LINK_PACKAGES = `mkdir -p node_modules/.bin
ln -s "$PWD"/../node_modules/* node_modules/
ln -s "$PWD/../node_modules/typescript/bin/tsc" node_modules/.bin/tsc
ln -s "$PWD/../dist/src/main.js" node_modules/.bin/petstore
ln -s ../.. node_modules/pet-store-service
chmod +x ../dist/src/main.js`;

/** A shell of the reader: variables and the working directory stay from block to block. */
class Terminal {
  private readonly state: string;

  constructor(
    name: string,
    private readonly folder: string,
    private readonly env: Record<string, string>,
  ) {
    this.state = join(folder, `.${name}.sh`);
  }

  /** Runs commands that must succeed. @returns standard error and standard output */
  run(commands: string): Promise<string> {
    const script = `${this.restore}\n${commands}\nexport -p > ${this.state}`;
    return new Promise((done, fail) => {
      execFile('bash', ['-ec', script], this.options, (error, stdout, stderr) => {
        if (error === null) done((stderr + stdout).replaceAll('\r', ''));
        else fail(new Error(`${commands}\n${stdout}\n${stderr}`));
      });
    });
  }

  /** Starts a program that runs until Ctrl+C. */
  start(command: string): ChildProcess {
    // A group of its own: a terminal sends SIGINT to each process of the group.
    const options = { ...this.options, detached: true, stdio: 'pipe' } as const;
    return spawn('bash', ['-ec', `${this.restore}\n${command}`], options);
  }

  private get options() {
    return { cwd: this.folder, env: this.env };
  }

  private get restore(): string {
    return `if [ -e ${this.state} ]; then . ${this.state}; cd "$PWD"; fi`;
  }
}

/** A clone, in which a reader follows the tutorial. */
class Reader implements AsyncDisposable {
  private readonly clone = cloneOfRepository();
  private readonly first: Terminal;
  private readonly second: Terminal;
  private server: ChildProcess | undefined;
  private log = '';
  private output = '';

  /** @param words what the reader replaces in commands, and what stands there instead */
  constructor(
    private readonly port: number,
    private readonly words: Record<string, string>,
  ) {
    const { PATH = '', HOME = this.clone.path } = process.env;
    const quiet = { npm_config_update_notifier: 'false', METRICS_PORT: '0', SHED_AFTER_MS: '0' };
    const env = { PATH, HOME, PORT: String(port), ...quiet };
    this.first = new Terminal('first', this.clone.path, env);
    this.second = new Terminal('second', this.clone.path, env);
  }

  async follow(guide: string): Promise<void> {
    for (const block of blocksOf(guide)) {
      if (block.prose.includes('Ctrl+C')) await this.stop();
      if (block.kind === 'text') this.expectPrinted(block.code);
      else if (/^(?:diff|ts)$/.test(block.kind)) applyEdit(block, this.clone.path);
      else await this.type(block.code);
    }
  }

  /** The server has a terminal of its own. */
  private async type(code: string): Promise<void> {
    const lines = this.typed(code).trimEnd().split('\n');
    const server = SERVER.test(lines.at(-1)!) ? lines.pop() : undefined;
    const terminal = server === undefined ? this.second : this.first;
    this.output = await terminal.run(lines.join('\n'));
    if (server !== undefined) await this.serve(server);
  }

  /** What the reader types: a port, a key and a database of this test instead of the guide's. */
  private typed(code: string): string {
    const [, key = ''] = /^ +(psk_\w+)$/m.exec(this.log) ?? [];
    const words = { ...this.words, 'psk_...': key };
    const text = Object.entries(words).reduce((all, word) => all.replaceAll(...word), code);
    // The packages of the clone are links, and an installation would compile SQLite.
    return text.replace(/^npm ci$/m, ':').replace(/^npm install .*$/m, LINK_PACKAGES);
  }

  private async serve(command: string): Promise<void> {
    this.log = '';
    this.server = this.first.start(command);
    for (const stream of [this.server.stdout!, this.server.stderr!]) {
      stream.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    }
    const isReady = async () => {
      if (this.server?.exitCode !== null) throw new Error(this.log);
      const ready = fetch(`http://127.0.0.1:${this.port}/health/ready`);
      const isUp = await ready.then(({ ok }) => ok).catch(() => false);
      // The introduction is printed after the server listens.
      return isUp && this.log.includes('More keys');
    };
    await eventually(isReady, START_MS);
    this.output = this.log;
  }

  private async stop(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    const closed = once(server, 'close');
    process.kill(-server.pid!, 'SIGINT');
    await closed;
  }

  /** Each line of the guide is in the output, in its order; `...` is any text. */
  private expectPrinted(expected: string): void {
    const escaped = this.typed(expected).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const pattern = escaped.replace(/(?:\\\.){3}/g, '[^]*?').trimEnd();
    expect(this.output).toMatch(new RegExp(pattern));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.clone[Symbol.dispose]();
  }
}

describeWith('postgres', 'docs/tutorial.md', (initdb) => {
  it('runs from top to bottom', async () => {
    await using postgres = await PostgresServer.start(initdb);
    const [port, adminPort] = [await freePort(), await freePort()];
    await using reader = new Reader(port, {
      'localhost:3000': `localhost:${port}`,
      '127.0.0.1:9000': `127.0.0.1:${adminPort}`,
      'ADMIN_PORT=9000': `ADMIN_PORT=${adminPort}`,
      'postgres://postgres:secret@127.0.0.1:5432/postgres': await postgres.createDatabase(),
    });
    await reader.follow(readFileSync('docs/tutorial.md', 'utf8'));
  });
});
