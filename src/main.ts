#!/usr/bin/env node
import 'reflect-metadata';
import { Console } from 'node:console';
import { setFlagsFromString } from 'node:v8';

/** A connection that cannot be closed must not keep a finished command alive. */
const EXIT_TIMEOUT_MS = 100;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`error: Node.js ${process.version} is too old; install 20.19 or later\n`);
  process.exit(1);
}
// Under overload, V8 would allocate request objects in the old generation: 20 % less throughput.
setFlagsFromString('--no-allocation-site-pretenuring');

const argv = process.argv.slice(2);
const isServer = argv[0] === 'serve';
process.stderr.on('error', () => undefined);
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A closed pipe (`| head`) ends a command quietly; any other error makes it fail. A server
  // continues.
  if (isServer || code === 'EPIPE' || process.exitCode === 1) return;
  process.stderr.write(`error: cannot write to standard output (${message})\n`);
  process.exitCode = 1;
});
// Standard output belongs to the result, or to the log of a server. Libraries print with console.
if (!isServer || argv.includes('--json')) globalThis.console = new Console(process.stderr);
// Loaded after the check: older releases of Node cannot link it.
const { runProgram } = await import('./cli/program.js');
const exitCode = await runProgram(argv);
if (exitCode !== 0) process.exitCode = exitCode;
// A slow reader gets the whole result. A server does not wait for its reader.
if (!isServer) await new Promise((resolve) => process.stdout.write('', resolve));
setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
