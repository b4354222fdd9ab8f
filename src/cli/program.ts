import { Command, CommanderError } from 'commander';
import { VERSION } from '../config/version.js';
import { addBackupCommands } from './backup.commands.js';
import { addDataCommands } from './data.commands.js';
import { addDoctorCommand, ChecksFailedError } from './doctor.command.js';
import { reportFailure } from './failure.js';
import { addKeysCommands } from './keys.commands.js';
import { addNewCommand } from './new.command.js';
import { addOpenapiCommand } from './openapi.command.js';
import { Output, UsageError } from './output.js';
import { addServeCommand } from './serve.command.js';

const [SUCCESS, FAILURE, USAGE_ERROR] = [0, 1, 2];

/**
 * Runs one command of the program.
 * @param argv the arguments, without the paths of Node and of the script
 * @returns the exit code
 */
export async function runProgram(argv: readonly string[], output = new Output()): Promise<number> {
  const releaseStandardOutput = reserveStandardOutput(argv);
  try {
    const args = argv.length === 0 ? ['--help'] : [...argv];
    await createProgram(output).parseAsync(args, { from: 'user' });
    return SUCCESS;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return SUCCESS;
      if (error.code === 'commander.help') output.error(`error: ${missingCommand(argv)}`);
      return USAGE_ERROR;
    }
    if (error instanceof UsageError) {
      output.error(`error: ${error.message}`);
      return USAGE_ERROR;
    }
    if (!(error instanceof ChecksFailedError)) reportFailure(error, output);
    return FAILURE;
  } finally {
    releaseStandardOutput();
  }
}

function createProgram(output: Output): Command {
  const program = new Command('petstore')
    .description('Serves the pet store API and manages its keys and data.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.raw(text),
      // Commander writes the whole help here if a subcommand is missing.
      writeErr: () => undefined,
      outputError: (text) => output.error(text),
    })
    .addHelpText(
      'after',
      '\nExamples:\n  petstore serve\n  petstore keys issue --name "City zoo" --plan pro\n' +
        '  petstore keys list --status banned\n  petstore keys usage KEY_ID',
    );
  addServeCommand(program, output);
  addDataCommands(program, output);
  addKeysCommands(program, output);
  addOpenapiCommand(program, output);
  addDoctorCommand(program, output);
  addBackupCommands(program, output);
  addNewCommand(program, output);
  return program;
}

function missingCommand(argv: readonly string[]): string {
  const option = argv.find((argument) => argument.startsWith('-'));
  if (option !== undefined) return `unknown option '${option}'`;
  return `missing command; see petstore ${argv.join(' ')} --help`;
}

/** Redirects what libraries print to standard error: standard output belongs to the result. */
function reserveStandardOutput(argv: readonly string[]): () => void {
  // Without --json, the log of a server is its output.
  if (argv[0] === 'serve' && !argv.includes('--json')) return () => undefined;
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return () => {
    process.stdout.write = write;
  };
}
