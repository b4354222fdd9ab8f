import { Command, CommanderError, Option } from 'commander';
import { VERSION } from '../core/config/version.js';
import { addCommandTo } from './add-command.js';
import * as parse from './arguments.js';
import { reportFailure } from './failure.js';
import { addAdminCommands, addKeysCommands } from './keys.commands.js';
import { FailedError, type Output } from './output.js';
import type { ServeOptions } from './serve.js';
import type { UsageOptions } from './usage.js';

const [SUCCESS, FAILURE, USAGE_ERROR] = [0, 1, 2];
const NO_COMMAND = 'error: missing command; see petstore --help';
const NO_JSON = 'error: backup - writes the database to standard output, so it excludes --json';
const NEEDS_NO_CONFIGURATION = ['--version', '-V'];
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Runs one command of the program.
 * @param argv the arguments, without the paths of Node and of the script
 * @returns the exit code
 */
export async function runProgram(argv: readonly string[], output: Output): Promise<number> {
  try {
    const args = argv.length === 0 ? ['--help'] : argv;
    const program = createProgram(output);
    const isBuiltIn = program.commands.some((command) => command.name() === args[0]);
    if (!isBuiltIn && !NEEDS_NO_CONFIGURATION.includes(args[0]!)) {
      const { addExtensionCommands } = await import('./extension-commands.js');
      await addExtensionCommands(program, args, output);
    }
    await program.parseAsync(args, { from: 'user' });
    return SUCCESS;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return SUCCESS;
      output.error(error.code === 'commander.help' ? NO_COMMAND : error.message);
      return USAGE_ERROR;
    }
    if (!(error instanceof FailedError)) reportFailure(error, output);
    return FAILURE;
  }
}

function createProgram(output: Output): Command {
  const program = new Command('petstore')
    .description('Serves the pet store API and manages its keys and data.')
    .version(VERSION)
    .exitOverride()
    // Options after a command are its own.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: output.raw,
      // `runProgram` prints errors. Commander adds the whole help if a subcommand is missing.
      writeErr: () => undefined,
    })
    .addHelpText('after', '\nExamples:\n  petstore serve\n  petstore keys usage KEY_ID');
  const groups = [addServe, addKeysCommands, addAdminCommands, addDatabaseCommands];
  for (const add of [...groups, addUsage, addTools]) add(program, output);
  return program;
}

function addServe(program: Command, output: Output): void {
  addCommandTo(program, output)<ServeOptions>(
    'serve',
    'serve the API until SIGTERM, SIGINT or SIGHUP',
    ['serve'],
    async (options) => {
      // Listen first: loading the server takes a second, and PID 1 of a container ignores unhandled
      // signals. Further signals change nothing, because draining has a deadline.
      const stop = new Promise<NodeJS.Signals>((resolve) => {
        for (const signal of STOP_SIGNALS) process.on(signal, resolve);
      });
      return (await import('./serve.js')).serve(options, output, stop);
    },
  )
    .option('--no-demo', 'do not add sample data at the first start')
    .option('--migrate', 'migrate the schema first, on PostgreSQL too');
}

function addDatabaseCommands(program: Command, output: Output): void {
  const add = addCommandTo(program, output);
  add(
    'migrate',
    'create the database schema, or bring it up to date',
    ['migrate'],
    async (options) => (await import('./operator.js')).migrate(options),
  );
  add<{ pets: number }>('seed', 'add sample data', ['seed --pets 100000'], async (options) =>
    (await import('./operator.js')).seed(options),
  ).requiredOption('--pets <n>', 'number of sample pets', parse.quantity);
  add(
    'backup',
    'copy the SQLite database to a file; the server may be running',
    ['backup zoo.db', 'backup - | gzip > zoo.db.gz'],
    async (options, file) => {
      if (file === '-' && options.json) throw new CommanderError(2, 'petstore.backup', NO_JSON);
      return (await import('./backup.js')).backup(file, options, output);
    },
  )
    .argument(
      '<file>',
      'file to write, readable only by its owner, or - for standard output',
      parse.file,
    )
    .option('--yes', 'overwrite an existing file without confirmation');
  add(
    'restore',
    'replace the SQLite database with a backup; stop the server first',
    ['restore zoo.db'],
    async (options, file) => (await import('./backup.js')).restore(file, options),
  )
    .argument('<file>', 'a file that petstore backup wrote', parse.file)
    .option('--yes', 'do not ask for confirmation');
  add<{ to: string }>(
    'copy',
    'copy everything into an empty database; stop the server first',
    ['copy --to postgres://petstore:PASSWORD@db.example.com/petstore'],
    async (options) => (await import('./copy.js')).copy(options, output),
  ).requiredOption('--to <url>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE');
}

function addUsage(program: Command, output: Output): void {
  const usage = program
    .command('usage')
    .description('export the usage of clients')
    .addHelpText('after', '\nExamples:\n  petstore usage export --from 2030-12-01 --to 2030-12-02');
  addCommandTo(usage, output)<UsageOptions>(
    'export',
    'print admitted and rejected requests by client, plan, hour and operation; kept for 7 days',
    ['usage export --from 2030-12-01 --to 2030-12-02 --format ndjson'],
    async (options) => (await import('./usage.js')).exportUsage(options, output),
  )
    .requiredOption('--from <iso8601>', 'the first hour, or the start of a day in UTC', parse.hour)
    .requiredOption('--to <iso8601>', 'the end, which is not included', parse.hour)
    .addOption(
      new Option('--format <format>', 'format of the rows')
        .choices(['csv', 'ndjson'])
        .default('csv')
        .conflicts('json'),
    );
}

function addTools(program: Command, output: Output): void {
  const add = addCommandTo(program, output);
  add(
    'doctor',
    'check configuration, database, schema, Redis, clocks, files, proxy; print fixes',
    ['doctor'],
    async (options) => (await import('./doctor.js')).doctor(options),
  );
  add<{ format: 'json' | 'yaml' }>(
    'openapi',
    'print the OpenAPI document',
    ['openapi --format yaml > openapi.yaml'],
    async (options) => {
      const { documentText } = await import('./openapi.js');
      output.raw(await documentText(options));
    },
  ).addOption(
    new Option('--format <format>', 'format of the document')
      .choices(['json', 'yaml'])
      .default('json'),
  );
  addCommandTo(program.command('new').description('create a package'), output)(
    'extension',
    'create a package with an extension',
    ['new extension store-orders'],
    async (options, name) => (await import('./new-extension.js')).newExtension(name, options),
  ).argument('<name>', 'name in kebab case, used for package, path and scopes', parse.packageName);
}
