import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const connections = new WeakMap<Server, Set<Socket>>();

/** Has `isSending` know of the server's connections. */
export function followConnections(server: Server): void {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/** Whether an answer is still on its way to somebody. Node takes a connection for idle before all of it has left. */
export function isSending(server: Server): boolean {
  for (const { writableLength } of connections.get(server) ?? [])
    if (writableLength > 0) return true;
  return false;
}
