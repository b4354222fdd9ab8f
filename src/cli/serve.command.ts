import cluster from 'node:cluster';
import { Command } from 'commander';
import { workerCount } from './arguments.js';
import type { Output } from './output.js';
import { stopSignal } from './serving.js';

export interface ServeOptions {
  workers: number;
  demo: boolean;
  migrate?: true;
  json?: true;
}

/** `petstore serve` */
export function serveCommand(output: Output): Command {
  return new Command('serve')
    .description('serve the API until SIGTERM or SIGINT')
    .option('--workers <number>', 'processes to serve with, one for each core', workerCount, 1)
    .option('--no-demo', 'add no made-up animals at the first start')
    .option('--migrate', 'bring the schema up to date first, also on PostgreSQL')
    .option('--json', 'print where it listens as JSON, and the log to standard error')
    .action((options: ServeOptions) => serve(options, output));
}

/** Loaded on demand: the other commands do not pay for a server. That takes a while, in which it may be stopped. */
async function serve(options: ServeOptions, output: Output): Promise<void> {
  const stop = stopSignal();
  if (cluster.isWorker) {
    const { serveAsWorker } = await import('./serve.worker.js');
    await serveAsWorker(options, stop);
  } else if (options.workers > 1) {
    const { serveWithWorkers } = await import('./serve.primary.js');
    await serveWithWorkers(options, output, stop);
  } else {
    const { serveAlone } = await import('./serve.alone.js');
    await serveAlone(options, output, stop);
  }
}
