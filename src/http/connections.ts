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
