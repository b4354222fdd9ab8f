import type { Command } from 'commander';
import { FailedError, type Output } from './output.js';

/** The options of every command. */
export interface CommonOptions {
  json?: true;
  config?: string;
  ignoreCompatibility?: string[];
}

/** The output of a command: a JSON value with `--json`, otherwise the text. */
export interface Result {
  value: unknown;
  text: string;
  /** Whether the command failed although it has a result. */
  hasFailed?: boolean;
}

interface Definition<Options> {
  name: string;
  description: string;
  /** Command lines, without the name of the program. */
  examples: readonly string[];
  /** Loads the modules of the command and runs it: help and usage errors do not need them. */
  run: (options: Options & CommonOptions, argument: string) => Promise<Result | void>;
}

/** Adds a command with the common options, and examples below its help. */
export function addCommand<Options>(
  parent: Command,
  output: Output,
  { name, description, examples, run }: Definition<Options>,
): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print the result as JSON')
    .option('--config <file>', 'configuration file (default: petstore.config.js, if it exists)')
    .option(
      '--ignore-compatibility <name>',
      'load the extension NAME even if it requires another version',
      (value: string, names: string[] = []) => [...names, value],
    )
    .addHelpText('after', ['\nExamples:', ...examples].join('\n  petstore '))
    .action(async (...parameters: unknown[]) => {
      const command = parameters.at(-1) as Command;
      const options = command.opts<Options & CommonOptions>();
      const result = await run(options, command.args[0]!);
      if (result) output.print(result, options.json);
      if (result?.hasFailed) throw new FailedError();
    });
}
