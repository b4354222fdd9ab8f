import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';

/** nginx with the site of deploy/, on local addresses. */
export class Nginx implements AsyncDisposable {
  private readonly directory = mkdtempSync(join(tmpdir(), 'petstore-nginx-'));
  private child: ReturnType<typeof spawn> | undefined;

  constructor(
    private readonly program: string,
    readonly port: number,
    nodePorts: readonly number[],
  ) {
    const { directory } = this;
    // The host names of the nodes only exist in the network of compose.yaml.
    const site = readFileSync('deploy/nginx/petstore.conf', 'utf8')
      .replace(/server node(\d):3000/g, (_all, node) => `server 127.0.0.1:${nodePorts[node - 1]}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`);
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const folders = kinds.map((kind) => `${kind}_temp_path ${directory}/${kind};`).join(' ');
    const user = process.getuid!() === 0 ? 'user root;' : '';
    const main = `${user} daemon off; pid ${directory}/pid; error_log stderr; events {} http { access_log off; ${folders} include ${directory}/site.conf; }`;
    writeFileSync(join(directory, 'site.conf'), site);
    writeFileSync(join(directory, 'nginx.conf'), main);
  }

  async start(): Promise<void> {
    const configuration = join(this.directory, 'nginx.conf');
    this.child = spawn(this.program, ['-e', 'stderr', '-c', configuration], { stdio: 'ignore' });
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
}
