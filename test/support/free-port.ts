import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below the range of outgoing connections, which could take the port. */
const FIRST = 10_000;
const END = 30_000;
const TRIES = 1_000;
/** A reserved port is in use by then. */
const RESERVED_MS = 600_000;
/** Shared by all test runs on this machine. */
const RESERVATIONS = join(tmpdir(), 'petstore-test-ports');

/** A free port, reserved for some minutes. */
export async function freePort(): Promise<number> {
  mkdirSync(RESERVATIONS, { recursive: true });
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, END);
    if (reserve(port) && (await isFree(port))) return port;
  }
  throw new Error('No port is free');
}

/** Creating a directory is atomic. */
function reserve(port: number): boolean {
  const reservation = join(RESERVATIONS, String(port));
  try {
    mkdirSync(reservation);
    return true;
  } catch {
    if (isOver(reservation)) rmSync(reservation, { recursive: true, force: true });
    return false;
  }
}

function isOver(reservation: string): boolean {
  const madeMs = statSync(reservation, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  return Date.now() - madeMs > RESERVED_MS;
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
