import { Command, CommanderError } from 'commander';
import { reportFailure } from './failure.js';
import { migrateCommand, seedCommand } from './data.commands.js';
import { keysCommand } from './keys.commands.js';
import { openapiCommand } from './openapi.command.js';
import { Output, UsageError } from './output.js';
import { serveCommand } from './serve.command.js';

const SUCCESS = 0;
const FAILURE = 1;
const USAGE_ERROR = 2;

/** Runs the command that `argv` (as of a shell, without node and script) names; resolves to the exit code. */
export async function runProgram(argv: readonly string[], output = new Output()): Promise<number> {
  try {
    await program(output).parseAsync([...argv], { from: 'user' });
    return SUCCESS;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : USAGE_ERROR;
    if (error instanceof UsageError) {
      output.complain(`error: ${error.message}`);
      return USAGE_ERROR;
    }
    reportFailure(error, output);
    return FAILURE;
  }
}

function program(output: Output): Command {
  const root = new Command('petstore')
    .description('The pet-store service and its operator’s tools.')
    .addCommand(serveCommand(output))
    .addCommand(migrateCommand(output))
    .addCommand(seedCommand(output))
    .addCommand(keysCommand(output))
    .addCommand(openapiCommand(output));
  everyCommand(root, (command) => {
    command.exitOverride().allowExcessArguments(false);
    if (command.commands.length > 0) requireCommand(command);
    command.configureOutput({
      writeOut: (text) => output.raw(text),
      writeErr: (text) => output.complain(text),
      outputError: (text) => output.complain(text),
    });
  });
  return root;
}

/** Commander would print the whole help where a usage error is to be one line. */
function requireCommand(command: Command): void {
  command.argument('[command]').action((name: string | undefined) => {
    const path = command.parent === null ? 'petstore' : `petstore ${command.name()}`;
    const problem = name === undefined ? 'a command is missing' : `unknown command '${name}'`;
    throw new UsageError(`${problem}; ${path} --help lists them`);
  });
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const sub of command.commands) everyCommand(sub, visit);
}
