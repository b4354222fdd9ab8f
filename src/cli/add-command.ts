import type { Command } from 'commander';
import { file } from './arguments.js';
import { FailedError, type Output, type Printed } from './output.js';

/** The options of every command; `yes` only of a destructive one. */
export interface CommonOptions {
  json?: true;
  config?: string;
  ignoreCompatibility?: string[];
  yes?: true;
}

/** The output of a command. */
export interface Result extends Printed {
  /** Whether the command failed although it has a result. */
  hasFailed?: boolean;
}

/** Returns a function that adds a command with the common options, and examples below its help. */
export function addCommandTo(parent: Command, output: Output) {
  /**
   * @param examples command lines, without the name of the program
   * @param run loads the modules of the command and runs it: help and usage errors do not need them
   */
  return <Options>(
    name: string,
    description: string,
    examples: readonly string[],
    run: (options: Options & CommonOptions, argument: string) => Promise<Result | void>,
  ) =>
    addConfigOptions(
      parent.command(name).description(description).option('--json', 'print the result as JSON'),
    )
      .addHelpText('after', ['\nExamples:', ...examples].join('\n  petstore '))
      .action(async function () {
        const options = this.opts<Options & CommonOptions>();
        const result = await run(options, this.args[0]!);
        if (result) output.print(result, options.json);
        if (result?.hasFailed) throw new FailedError();
      });
}

/** Adds the options that choose the configuration and its extensions. */
export function addConfigOptions(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'configuration file (default: petstore.config.js, if it exists)',
      file,
    )
    .option(
      '--ignore-compatibility <name>',
      'load the extension NAME even if it requires another version',
      (value: string, names: string[] = []) => [...names, value],
    );
}
