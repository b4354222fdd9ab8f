import { Command } from 'commander';
import { type Output, UsageError } from './output.js';

/** `petstore new extension NAME` */
export function newCommand(output: Output): Command {
  const extension = new Command('extension')
    .description('write a package with an extension of your own, with tests that pass')
    .argument('<name>', 'in lower case, as store-orders: of the directory, the path and the scopes')
    .option('--json', 'print JSON')
    .action(async (name: string, { json }: { json?: true }) => {
      const { faultOfName, writeExtension } = await import('../extensions/new-extension.js');
      const fault = faultOfName(name);
      if (fault !== undefined) throw new UsageError(fault);
      const files = writeExtension(name, Date.now());
      output.print({ name, files }, json, () => told(name, files));
    });
  return new Command('new').description('begin something of your own').addCommand(extension);
}

function told(name: string, files: readonly string[]): string {
  return `Wrote ${files.length} files. Go on with:\n\n  cd ${name}\n  npm install\n  npm test`;
}
