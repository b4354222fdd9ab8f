#!/usr/bin/env -S node --max-semi-space-size=64
// Large enough for the garbage of a request to die young: see "Memory" in docs/operating.md.
import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

/** A connection that cannot be closed must not keep a finished command alive. */
const EXIT_TIMEOUT_MS = 100;
const PARENT_CHECK_MS = 250;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`error: Node.js ${process.version} is too old; install 20.19 or later\n`);
  process.exit(1);
}
// Under overload, V8 would allocate request objects in the old generation: 20 % less throughput.
setFlagsFromString('--no-allocation-site-pretenuring');

const argv = process.argv.slice(2);
const isServer = argv[0] === 'serve';
// npm and npx do not forward every signal; without this, the server would outlive them.
if (isServer && process.env['npm_lifecycle_event'] !== undefined) {
  const parents = parentsOfServer();
  setInterval(() => {
    if (parentsOfServer() !== parents) process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS).unref();
}
process.stderr.on('error', () => undefined);
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A closed pipe (`| head`) ends a command quietly; any other error makes it fail. A server
  // continues.
  if (isServer || code === 'EPIPE' || process.exitCode === 1) return;
  process.stderr.write(`error: cannot write to standard output (${message})\n`);
  process.exitCode = 1;
});
const write = process.stdout.write.bind(process.stdout);
if (!isServer || argv.includes('--json')) {
  // Standard output belongs to the result. Extensions and libraries write to it, with console too.
  // There is no option. `petstore.e2e-spec.ts` fails without it.
  process.stdout.write = process.stderr.write.bind(process.stderr);
}
process.on('exit', () => {
  // Node's code for a top-level await that never settles.
  if (process.exitCode !== 13) return;
  const places = 'petstore.config.js, and the hooks and commands of extensions';
  process.stderr.write(`error: a promise never settles: see each await in ${places}\n`);
  process.exitCode = 1;
});
// Loaded after the check: older releases of Node cannot link them.
const { Output } = await import('./cli/output.js');
const { runProgram } = await import('./cli/program.js');
const exitCode = await runProgram(argv, new Output(write, undefined, process.stdout.isTTY));
if (exitCode !== 0) process.exitCode = exitCode;
// Flush standard output before exiting. A server does not wait for its reader.
if (!isServer) await new Promise<unknown>((resolve) => write('', resolve));
setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();

/** The parent, which may be a shell, and on Linux its parent: npx may end and leave the shell. */
function parentsOfServer(): string {
  const status = `/proc/${process.ppid}/status`;
  const text = existsSync(status) ? readFileSync(status, 'utf8') : '';
  return `${process.ppid} ${/^PPid:.*/m.exec(text)?.[0]}`;
}
