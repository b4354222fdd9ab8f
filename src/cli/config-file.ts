import type { Command } from 'commander';
import type { CheckOptions } from '../extensions/check.js';
import type { LoadedConfig } from '../extensions/petstore-config.js';

interface Choice {
  config?: string;
  ignoreCompatibility?: string[];
}

/** What the command line says of it. A process runs one command, and whatever that does is under it. */
let choice: Choice = {};

/** Gives a command the option `--config`. */
export function takesConfigFile(command: Command): void {
  command
    .option('--config <file>', 'the configuration (default: petstore.config.js, if there is one)')
    .option('--ignore-compatibility <name>', 'start the extension with any version', collect)
    .hook('preAction', () => {
      choice = command.opts();
    });
}

function collect(name: string, names: readonly string[] = []): string[] {
  return [...names, name];
}

/** The configuration that the command was given. Loaded on demand, with all that the file imports. */
export async function configured(): Promise<LoadedConfig & CheckOptions> {
  const { config, ignoreCompatibility } = choice;
  const { loadPetStoreConfig } = await import('../extensions/petstore-config.js');
  return { ...(await loadPetStoreConfig(config)), ignoreCompatibility };
}
