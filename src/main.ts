#!/usr/bin/env -S node --max-semi-space-size=8
import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { runProgram } from './cli/program.js';

/** For what a failed start leaves open, as a connection that is still being made: it must not keep the process. */
const LINGER_MS = 500;

// What outlives a collection in a rush V8 would make in the old generation from then on, where its garbage
// stays for long and holds that of later requests: a fifth of what an overloaded process gets done.
setFlagsFromString('--no-allocation-site-pretenuring');

// Who reads has had enough, as `head` does: that is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runProgram(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();
