import { Command } from 'commander';
import type { Output } from './output.js';
import { stopSignal } from './serving.js';

export interface ServeOptions {
  demo: boolean;
  migrate?: true;
  json?: true;
}

/** `petstore serve` */
export function serveCommand(output: Output): Command {
  return new Command('serve')
    .description('serve the API until SIGTERM or SIGINT')
    .option('--no-demo', 'add no made-up animals at the first start')
    .option('--migrate', 'bring the schema up to date first, also on PostgreSQL')
    .option('--json', 'print where it listens as JSON, and the log to standard error')
    .action((options: ServeOptions) => serve(options, output));
}

/** Loaded on demand: the other commands do not pay for a server. That takes a while, in which it may be stopped. */
async function serve(options: ServeOptions, output: Output): Promise<void> {
  const stop = stopSignal();
  const { serveAlone } = await import('./serve.alone.js');
  await serveAlone(options, output, stop);
}
