#!/usr/bin/env -S node --max-semi-space-size=8
import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { Output } from './cli/output.js';
import { runProgram } from './cli/program.js';
import { StandardStreams } from './cli/standard-streams.js';

// What outlives a collection in a rush V8 would make in the old generation from then on, where its garbage
// stays for long and holds that of later requests: a fifth of what an overloaded process gets done.
setFlagsFromString('--no-allocation-site-pretenuring');

/** Time for handles that are still open, such as a connection in progress, before the process exits regardless. */
const LINGER_MS = 100;

const argv = process.argv.slice(2);
const streams = new StandardStreams();
const output = new Output();
process.exitCode = await runProgram(argv, output);
// A result waits for whoever reads it slowly. A server is told to end, and ends, whether anybody reads or not.
if (argv[0] !== 'serve') {
  const { cureOfLoss } = output;
  const fault = await streams.written(cureOfLoss !== undefined);
  if (fault !== undefined) {
    const loss = cureOfLoss ?? 'the result is lost';
    output.complain(`error: standard output cannot be written (${fault.message}): ${loss}`);
    process.exitCode = 1;
  }
}
setTimeout(() => process.exit(), LINGER_MS).unref();
