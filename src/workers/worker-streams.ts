import cluster, { type Worker } from 'node:cluster';
import { fstatSync } from 'node:fs';

/**
 * Where a worker finds standard output and standard error of the primary process, for its log. Its own are theirs
 * as well, unless they are sockets: to start and to end, a process of Node has a descriptor below 3 wait for its
 * reader, and with it everybody who shares it, and a socket cannot be opened once more. Nobody does so to these.
 */
const LOG_DESCRIPTORS = { 1: 4, 2: 5 } as const;

/** Runs the program that runs here, with its arguments. */
export function forkWorker(): Worker {
  const [out, err] = [ownStream(1), ownStream(2)];
  cluster.setupPrimary({ stdio: ['ignore', out, err, 'ipc', 1, 2] });
  const worker = cluster.fork();
  const { stdout, stderr } = worker.process;
  stdout?.on('data', (chunk: Buffer) => process.stdout.write(chunk));
  stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk));
  return worker;
}

/** Of a worker, what leads to where this one of the primary process does. */
export function logDescriptor(fd: 1 | 2): number {
  return LOG_DESCRIPTORS[fd];
}

function ownStream(fd: 1 | 2): 'pipe' | 'inherit' {
  return fstatSync(fd).isSocket() ? 'pipe' : 'inherit';
}
