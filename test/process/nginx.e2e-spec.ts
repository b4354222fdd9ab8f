import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { Nginx, SITE } from '../support/nginx.js';

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

describeWith('nginx', SITE, (program) => {
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
