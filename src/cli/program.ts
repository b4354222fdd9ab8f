import { Command, CommanderError, Option } from 'commander';
import { VERSION } from '../config/version.js';
import { addCommand } from './add-command.js';
import * as parse from './arguments.js';
import { reportFailure } from './failure.js';
import { addKeysCommands } from './keys.commands.js';
import { FailedError, Output } from './output.js';
import type { ServeOptions } from './serve.js';

const [SUCCESS, FAILURE, USAGE_ERROR] = [0, 1, 2];
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

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
      const isMissing = error.code === 'commander.help';
      output.error(isMissing ? `error: ${missingCommand(argv)}` : error.message);
      return USAGE_ERROR;
    }
    if (!(error instanceof FailedError)) reportFailure(error, output);
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
      // `runProgram` prints errors. Commander adds the whole help if a subcommand is missing.
      writeErr: () => undefined,
    })
    .addHelpText('after', '\nExamples:\n  petstore serve\n  petstore keys usage KEY_ID');
  addServe(program, output);
  addKeysCommands(program, output);
  addData(program, output);
  addTools(program, output);
  return program;
}

function addServe(program: Command, output: Output): void {
  const summary = 'serve the API until SIGTERM, SIGINT or SIGHUP';
  addCommand<ServeOptions>(program, output, ['serve', summary, 'serve'], async (options) => {
    // Listen first: loading the server takes a second, and PID 1 of a container ignores unhandled
    // signals. Further signals change nothing, because draining has a deadline.
    const stop = new Promise<NodeJS.Signals>((resolve) => {
      for (const signal of STOP_SIGNALS) process.on(signal, resolve);
    });
    const { serve } = await import('./serve.js');
    await serve(options, output, stop);
    return undefined;
  })
    .option('--no-demo', 'do not add sample pets at the first start')
    .option('--migrate', 'migrate the schema first, on PostgreSQL too');
}

function addData(program: Command, output: Output): void {
  const migrate = ['migrate', 'create the database schema, or bring it up to date', 'migrate'];
  addCommand(program, output, migrate, async (options) =>
    (await import('./operator.js')).migrate(options),
  );
  const seed = ['seed', 'add sample pets', 'seed --pets 100000'];
  addCommand<{ pets: number }>(program, output, seed, async (options) =>
    (await import('./operator.js')).seed(options),
  ).requiredOption('--pets <n>', 'number of pets', parse.quantity);
  const copy = 'copy the SQLite database to a file; the server may be running';
  const backup = ['backup', copy, 'backup zoo.db'];
  addCommand<{ yes?: true }>(program, output, backup, async (options, file) =>
    (await import('./backup.js')).backup(file, options),
  )
    .argument('<file>', 'file to write, readable only by its owner', parse.file)
    .option('--yes', 'overwrite an existing file without confirmation');
  const replace = 'replace the SQLite database with a backup; stop the server first';
  const restore = ['restore', replace, 'restore zoo.db'];
  addCommand<{ yes?: true }>(program, output, restore, async (options, file) =>
    (await import('./backup.js')).restore(file, options),
  )
    .argument('<file>', 'a file that petstore backup wrote', parse.file)
    .option('--yes', 'do not ask for confirmation');
}

function addTools(program: Command, output: Output): void {
  const check = 'check configuration, database, schema, Redis, clocks, files, proxy; print fixes';
  addCommand(program, output, ['doctor', check, 'doctor'], async (options) =>
    (await import('./doctor.js')).doctor(options),
  );
  const openapi = ['openapi', 'print the OpenAPI document', 'openapi --format yaml > openapi.yaml'];
  addCommand<{ format: 'json' | 'yaml' }>(program, output, openapi, async (options) => {
    const { documentText } = await import('./openapi.js');
    output.raw(await documentText(options));
    return undefined;
  }).addOption(
    new Option('--format <format>', 'format of the document')
      .choices(['json', 'yaml'])
      .default('json'),
  );
  const parent = program.command('new').description('create a package');
  const create = ['extension', 'create a package with an extension', 'new extension store-orders'];
  addCommand(parent, output, create, async (options, name) => {
    await (await import('../extensions/petstore-config.js')).loadExtensions(options);
    const { writeExtension } = await import('../extensions/new-extension.js');
    const { files, tarball } = writeExtension(name);
    const install = tarball ? 'npm install' : 'npm install --save-dev TARBALL';
    const hint = tarball ? '' : ' (npm pack in a clone of the service writes TARBALL)';
    const text = `Created ${files.length} files. Next steps${hint}:`;
    const next = [text, '', `  cd ${name}`, `  ${install}`, '  npm test'].join('\n');
    return { value: { name, files, tarball }, text: () => next };
  }).argument('<name>', 'name in kebab case, used for package, path and scopes', parse.packageName);
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
