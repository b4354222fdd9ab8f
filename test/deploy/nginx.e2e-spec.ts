import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeWith } from '../support/engines.js';

const SITE = resolve('deploy/nginx/petstore.conf');

describeWith('nginx', SITE.slice(process.cwd().length + 1), (nginx) => {
  it('is accepted by nginx', () => {
    const directory = mkdtempSync(join(tmpdir(), 'petstore-nginx-'));
    // The names of the nodes are known to the network of compose.yaml alone.
    const site = readFileSync(SITE, 'utf8').replace(/server node\d:/g, 'server 127.0.0.1:');
    const main = `pid ${directory}/pid; error_log stderr; events {} http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${directory}/${kind};`).join(' ')} include ${directory}/site.conf; }`;
    writeFileSync(join(directory, 'site.conf'), site);
    writeFileSync(join(directory, 'nginx.conf'), main);
    try {
      // It says what is wrong on standard error, which then is part of the failure.
      execFileSync(nginx, ['-t', '-e', 'stderr', '-c', join(directory, 'nginx.conf')], {
        stdio: 'pipe',
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
