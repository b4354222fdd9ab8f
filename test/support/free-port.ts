import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that kernels give to outgoing connections, which could take a port before it is used, or again. */
const FIRST = 10_000;
const EACH = 500;
const BLOCKS = 40;

let next = 0;

/** A port that nobody listens on at this moment. Processes that look at the same time look elsewhere. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < EACH; tries++) {
    const port = FIRST + (process.pid % BLOCKS) * EACH + (next++ % EACH);
    if (await isFree(port)) return port;
  }
  throw new Error('No port is free');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
