import type { Command } from 'commander';
import { type Extension, type ExtensionCommand, nameOf } from '../extensions/define.js';
import { loadExtensions } from '../extensions/petstore-config.js';
import { addConfigOptions, type CommonOptions } from './add-command.js';
import { reportFailure } from './failure.js';
import type { Output } from './output.js';

const CONFIG = /^--config(?:=(.*))?$/;

/**
 * Adds the commands of the extensions in the configuration file.
 * @param argv a help text without them is printed even if the file cannot be used
 * @throws {Error} if the file cannot be used
 */
export async function addExtensionCommands(
  program: Command,
  argv: readonly string[],
  output: Output,
): Promise<void> {
  // The arguments after `--` belong to the command.
  const own = argv.slice(0, [...argv, '--'].indexOf('--'));
  const at = own.findIndex((each) => CONFIG.test(each));
  const config = CONFIG.exec(own[at] ?? '')?.[1] ?? own[at + 1];
  const isHelp = ['--help', '-h', 'help'].includes(argv[0]!);
  let extensions: readonly Extension[] = [];
  try {
    ({ extensions } = await loadExtensions(at === -1 || !config ? {} : { config }));
  } catch (error) {
    if (!isHelp) throw error;
    reportFailure(error, output);
  }
  for (const extension of extensions) {
    for (const command of extension.commands ?? []) {
      addConfigOptions(program.command(command.name))
        .helpGroup(`Commands of ${nameOf(extension)}:`)
        .description(command.description)
        .argument('[args...]')
        .allowUnknownOption()
        .action(async function () {
          await run(command, this.args, this.opts<CommonOptions>(), output);
        });
    }
  }
}

/** Runs a command on an application context. Standard output belongs to it, and to it alone. */
async function run(
  command: ExtensionCommand,
  args: string[],
  options: CommonOptions,
  output: Output,
): Promise<void> {
  const { runAsOperator } = await import('./operator.js');
  // Migrates the schema, or requires it: hooks of modules read their tables.
  await runAsOperator(options, () => undefined);
  await runAsOperator(
    options,
    async (app) => {
      const write = process.stdout.write.bind(process.stdout);
      process.stdout.write = output.raw as typeof write;
      try {
        await command.run(app, args);
      } finally {
        process.stdout.write = write;
      }
    },
    'command',
  );
}
