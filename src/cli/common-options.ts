import type { Command } from 'commander';
import type { CheckOptions } from '../extensions/check.js';
import type { LoadedConfig } from '../extensions/petstore-config.js';

/** The options of every command. */
export interface CommonOptions {
  json?: true;
  config?: string;
  ignoreCompatibility?: string[];
}

/** Adds a command with the common options, and examples below its help. */
export function addCommand(
  parent: Command,
  name: string,
  description: string,
  examples: readonly string[],
): Command {
  const lines = examples.map((example) => `  petstore ${example}`);
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
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** Loads the configuration file that the options name, with the extensions that it imports. */
export async function loadExtensions(
  options: CommonOptions,
): Promise<LoadedConfig & Pick<CheckOptions, 'ignoreCompatibility'>> {
  const { loadPetStoreConfig } = await import('../extensions/petstore-config.js');
  const loaded = await loadPetStoreConfig(options.config);
  return { ...loaded, ignoreCompatibility: options.ignoreCompatibility };
}
