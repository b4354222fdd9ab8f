import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Above 10080, which `fetch` refuses as a bad port, and below the range of outgoing connections,
 * which could take the port.
 */
const FIRST = 11_000;
const PORTS_PER_WORKER = 1_000;
const WORKERS = 20;

/** Each worker of Jest has ports of its own: a server may not listen yet on one that was given. */
const worker = Number(process.env['JEST_WORKER_ID'] ?? 0) % WORKERS;
let last = randomInt(PORTS_PER_WORKER);

/** A free port that no other test that runs at the same time gets. */
export async function freePort(): Promise<number> {
  last = (last + 1) % PORTS_PER_WORKER;
  const port = FIRST + worker * PORTS_PER_WORKER + last;
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort();
  server.close();
  await once(server, 'close');
  return port;
}
