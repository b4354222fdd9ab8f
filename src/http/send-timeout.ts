import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Node tells of a socket on which nothing moved for so large a part of the time. */
const PARTS = 4;

interface Stall {
  sinceMs: number;
  seenMs: number;
}
const stalls = new WeakMap<Socket, Stall>();

/**
 * Cuts a client that takes no byte of its answers for `timeoutMs`. Node's timer of a socket starts again
 * with every byte that moves, and says nothing of one that moves: told again after one part of the time,
 * nothing has moved in it.
 */
export function cutStalled(server: Server, timeoutMs: number): void {
  const partMs = timeoutMs / PARTS;
  server.setTimeout(partMs, (socket: Socket) => {
    // The one that Node sets between two requests.
    if (socket.timeout !== partMs) socket.destroy();
    else if (socket.writableLength > 0 && stalledMs(socket, partMs) >= timeoutMs) socket.destroy();
    // Whoever sends nothing, or waits for an answer, has limits of its own.
    else socket.setTimeout(partMs);
  });
}

function stalledMs(socket: Socket, partMs: number): number {
  const nowMs = performance.now();
  let stall = stalls.get(socket);
  if (stall === undefined || nowMs - stall.seenMs > 1.5 * partMs) {
    stall = { sinceMs: nowMs - partMs, seenMs: nowMs };
    stalls.set(socket, stall);
  }
  stall.seenMs = nowMs;
  return nowMs - stall.sinceMs;
}
