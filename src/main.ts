#!/usr/bin/env -S node --max-semi-space-size=8
import 'reflect-metadata';
import { runProgram } from './cli/program.js';

process.exitCode = await runProgram(process.argv.slice(2));
