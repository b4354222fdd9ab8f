import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';

const SITE = resolve('deploy/nginx/petstore.conf');

/** The site, as it is but for its addresses, in a directory of its own. */
class Nginx implements AsyncDisposable {
  private readonly directory = mkdtempSync(join(tmpdir(), 'petstore-nginx-'));
  private child: ReturnType<typeof spawn> | undefined;

  constructor(
    private readonly program: string,
    readonly port: number,
    nodePorts: readonly number[],
  ) {
    const { directory } = this;
    // The names of the nodes are known to the network of compose.yaml alone.
    const site = readFileSync(SITE, 'utf8')
      .replace(/server node(\d):3000/g, (_all, node) => `server 127.0.0.1:${nodePorts[node - 1]}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`);
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const folders = kinds.map((kind) => `${kind}_temp_path ${directory}/${kind};`).join(' ');
    const user = process.getuid!() === 0 ? 'user root;' : '';
    const main = `${user} daemon off; pid ${directory}/pid; error_log stderr; events {} http { access_log off; ${folders} include ${directory}/site.conf; }`;
    writeFileSync(join(directory, 'site.conf'), site);
    writeFileSync(join(directory, 'nginx.conf'), main);
  }

  /** @throws what is wrong with the site, as nginx says it on standard error */
  check(): void {
    execFileSync(this.program, ['-t', ...this.arguments], { stdio: 'pipe' });
  }

  async start(): Promise<void> {
    this.child = spawn(this.program, this.arguments, { stdio: 'ignore' });
    await eventually(() =>
      fetch(`http://127.0.0.1:${this.port}/`).then(
        () => true,
        () => false,
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child !== undefined && this.child.exitCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get arguments(): string[] {
    return ['-e', 'stderr', '-c', join(this.directory, 'nginx.conf')];
  }
}

/** As much of a node as nginx sees: it answers, goes, and comes back. */
class Node implements AsyncDisposable {
  private server: Server | undefined;

  constructor(private readonly port: number) {}

  async start(): Promise<void> {
    this.server = createServer((_request, response) => response.end('ok'));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    if (this.server?.listening !== true) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

describeWith('nginx', SITE.slice(process.cwd().length + 1), (program) => {
  it('is accepted by nginx', async () => {
    await using nginx = new Nginx(program, 8080, [1, 2]);
    nginx.check();
  });

  it('loses no request where nodes are restarted one right after the other', async () => {
    const ports = [await freePort(), await freePort()] as const;
    await using one = new Node(ports[0]);
    await using other = new Node(ports[1]);
    await using nginx = new Nginx(program, await freePort(), ports);
    await one.start();
    await other.start();
    await nginx.start();
    const client = new Client(`http://127.0.0.1:${nginx.port}`);
    const statuses: number[] = [];
    const ask = async (): Promise<void> => {
      for (let request = 0; request < 50; request++) {
        statuses.push((await client.get('/v1/pets')).status);
      }
    };
    for (const node of [one, other, one]) {
      await node.stop();
      await ask();
      await node.start();
    }
    client.close();
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
