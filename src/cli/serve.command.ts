import type { Command } from 'commander';
import { addCommand, type CommonOptions } from './common-options.js';
import type { Output } from './output.js';

export interface ServeOptions extends CommonOptions {
  demo: boolean;
  migrate?: true;
}

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Adds `petstore serve`. */
export function addServeCommand(program: Command, output: Output): void {
  addCommand(program, 'serve', 'serve the API until SIGTERM, SIGINT or SIGHUP', [
    'serve',
    'serve --no-demo',
  ])
    .option('--no-demo', 'add no made-up animals at the first start')
    .option('--migrate', 'bring the schema up to date first, also on PostgreSQL')
    .action(async (options: ServeOptions) => {
      // Listen first: loading the server takes a second, and PID 1 of a container ignores unhandled signals.
      const stop = stopSignal();
      const { serve } = await import('./serve.js');
      await serve(options, output, stop);
    });
}

/** Resolves on the first signal; further signals change nothing, because draining has a deadline. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve());
  });
}
