import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exchange } from './exchange.js';
import { systemRuntime } from './runtime.js';

describe(exchange.name, () => {
  it('does not follow redirects', async () => {
    const received: string[] = [];
    const server = createServer(({ method, url }, response) => {
      received.push(`${method} ${url}`);
      response.writeHead(302, { location: '/login' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/pets`;
    const create = { url, method: 'POST', headers: new Headers(), body: '{}' };
    const limits = { timeoutMs: 10_000, signal: undefined };
    const { response } = await exchange(fetch, create, limits, systemRuntime);
    expect(response.status).toBe(302);
    expect(received).toEqual(['POST /v1/pets']);
    server.close();
    server.closeAllConnections();
  });
});
