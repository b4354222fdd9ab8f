#!/usr/bin/env -S node --max-semi-space-size=8
import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { handleWriteErrors } from './cli/standard-streams.js';

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
handleWriteErrors(isServer);
// Loaded after the check: older releases of Node cannot link it.
const { runProgram } = await import('./cli/program.js');
const exitCode = await runProgram(argv);
if (exitCode !== 0) process.exitCode = exitCode;
// A slow reader gets the whole result. A server ends whether its output is read or not.
if (!isServer) await new Promise((resolve) => process.stdout.write('', resolve));
setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
