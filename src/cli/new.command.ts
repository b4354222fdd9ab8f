import type { Command } from 'commander';
import { addCommand, type CommonOptions } from './common-options.js';
import { type Output, UsageError } from './output.js';

/** Adds `petstore new extension NAME`. */
export function addNewCommand(program: Command, output: Output): void {
  const parent = program.command('new').description('create a package');
  addCommand(parent, 'extension', 'create a package with an extension and its tests', [
    'new extension store-orders',
  ])
    .argument('<name>', 'name of the package, its path and its scopes: lower case, as store-orders')
    .action(async (name: string, { json }: CommonOptions) => {
      const { faultOfName, writeExtension } = await import('../extensions/new-extension.js');
      const fault = faultOfName(name);
      if (fault !== undefined) throw new UsageError(fault);
      const { files, tarball } = writeExtension(name, Date.now());
      output.print({ name, files, tarball }, json, () =>
        [
          `Created ${files.length} files. Next:`,
          '',
          `  cd ${name}`,
          tarball
            ? `  npm install                 # installs the service from ${tarball}`
            : '  npm install --save-dev TARBALL   # of the service: run "npm pack" in its clone',
          '  npm test',
        ].join('\n'),
      );
    });
}
