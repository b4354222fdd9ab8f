import { Command, CommanderError } from 'commander';
import { VERSION } from '../config/version.js';
import { backupCommand, restoreCommand } from './backup.commands.js';
import { completionCommand } from './completion.command.js';
import { takesConfigFile } from './config-file.js';
import { doctorCommand, UnwellError } from './doctor.command.js';
import { EXAMPLES } from './examples.js';
import { reportFailure } from './failure.js';
import { migrateCommand, seedCommand } from './data.commands.js';
import { keysCommand } from './keys.commands.js';
import { newCommand } from './new.command.js';
import { openapiCommand } from './openapi.command.js';
import { Output, UsageError } from './output.js';
import { serveCommand } from './serve.command.js';
import { closest } from './suggestion.js';

const SUCCESS = 0;
const FAILURE = 1;
const USAGE_ERROR = 2;

/** Runs the command that `argv` (as of a shell, without node and script) names; resolves to the exit code. */
export async function runProgram(argv: readonly string[], output = new Output()): Promise<number> {
  try {
    const [first, ...rest] = argv;
    const asked = first === 'help' ? [...rest, '--help'] : [...argv];
    await program(output).parseAsync(asked, { from: 'user' });
    return SUCCESS;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : USAGE_ERROR;
    if (error instanceof UsageError) {
      output.complain(`error: ${error.message}`);
      return USAGE_ERROR;
    }
    if (!(error instanceof UnwellError)) reportFailure(error, output);
    return FAILURE;
  }
}

function program(output: Output): Command {
  const root = new Command('petstore')
    .description('The pet-store service and its operator’s tools.')
    .version(VERSION)
    .addCommand(serveCommand(output))
    .addCommand(migrateCommand(output))
    .addCommand(seedCommand(output))
    .addCommand(keysCommand(output))
    .addCommand(openapiCommand(output))
    .addCommand(doctorCommand(output))
    .addCommand(backupCommand(output))
    .addCommand(restoreCommand(output))
    .addCommand(newCommand(output));
  root.addCommand(completionCommand(root, output));
  everyCommand(root, (command) => {
    command.exitOverride().allowExcessArguments(false);
    if (command.commands.length > 0) requireCommand(command);
    else takesConfigFile(command);
    requireOptions(command);
    showExamples(command);
    command.configureOutput({
      writeOut: (text) => output.raw(text),
      writeErr: (text) => output.complain(text),
      outputError: (text) => output.complain(text),
    });
  });
  return root;
}

/**
 * Commander would print the whole help where a usage error is to be one line, and would judge what follows an
 * unknown command before the command itself.
 */
function requireCommand(command: Command): void {
  command.usage('[options] [command]').allowUnknownOption().allowExcessArguments();
  command.argument('[command]').action((name: string | undefined) => {
    if (name === undefined && command.parent === null) command.help();
    const path = pathOf(command);
    if (name === undefined) throw new UsageError(`a command is missing; ${path} --help lists them`);
    const isOption = name.startsWith('-');
    const known = isOption
      ? command
          .createHelp()
          .visibleOptions(command)
          .map(({ long }) => long!)
      : command.commands.map((each) => each.name());
    const meant = closest(name, known);
    const hint =
      meant === undefined ? `${path} --help lists them` : `did you mean ${path} ${meant}?`;
    throw new UsageError(`unknown ${isOption ? 'option' : 'command'} '${name}'; ${hint}`);
  });
}

/** Commander would ask for what is missing before it says that an option, perhaps the same one, is misspelt. */
function requireOptions(command: Command): void {
  const required = command.options.filter(({ mandatory }) => mandatory);
  if (required.length === 0) return;
  for (const option of required) option.mandatory = false;
  command.hook('preAction', () => {
    const missing = required.filter(
      (option) => command.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing.length === 0) return;
    const flags = missing.map((option) => `'${option.flags}'`).join(' and ');
    throw new UsageError(`${flags} must be given; ${pathOf(command)} --help says more`);
  });
}

function showExamples(command: Command): void {
  const examples = EXAMPLES[pathOf(command)];
  if (examples === undefined) return;
  command.addHelpText(
    'after',
    ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'),
  );
}

function pathOf(command: Command): string {
  return command.parent === null ? 'petstore' : `${pathOf(command.parent)} ${command.name()}`;
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const sub of command.commands) everyCommand(sub, visit);
}
