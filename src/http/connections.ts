import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const followed = new WeakMap<Server, Set<Socket>>();

/** Has the server's connections known: Node forgets those that it gives up, as for a change of protocol. */
export function followConnections(server: Server): void {
  const open = new Set<Socket>();
  followed.set(server, open);
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/** In a row. The first is not a whole one, and more may be ready than a turn looks at. */
const QUIET_TURNS = 4;

/**
 * Resolves once nobody waits to be accepted, or the server listens no longer. What a client has connected waits in a
 * queue of the kernel, its request sent already, and libuv takes one of it in each turn of the event loop: under load
 * dozens wait. Those who wait when the socket is closed are reset. A turn that brings nobody has found the queue empty.
 *
 * @param turn resolves behind the next look into the queue, and behind what that has found
 */
export async function allAccepted(server: Server, turn: () => Promise<unknown>): Promise<void> {
  let quiet = 0;
  const accepted = (): void => void (quiet = 0);
  server.on('connection', accepted);
  while (quiet < QUIET_TURNS && server.listening) {
    quiet++;
    await turn();
  }
  server.off('connection', accepted);
}

/** Whether an answer is still on its way to somebody. Node takes a connection for idle before all of it has left. */
export function isSending(server: Server): boolean {
  for (const { writableLength } of connectionsOf(server)) if (writableLength > 0) return true;
  return false;
}

/** `server.closeAllConnections()`, and those that it does not know of. */
export function closeAllConnections(server: Server): void {
  for (const socket of connectionsOf(server)) socket.destroy();
}

function connectionsOf(server: Server): Iterable<Socket> {
  return followed.get(server) ?? [];
}
