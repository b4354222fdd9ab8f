import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Builds the client into a new directory, so that a parallel build of the project is not disturbed.
 */
export function buildClient(): string {
  const outDir = mkdtempSync(join(tmpdir(), 'petstore-client-'));
  const project = resolve('clients/typescript/tsconfig.build.json');
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', outDir]);
  return outDir;
}

/** @returns the standard output of a command that must succeed. */
export function run(command: string, args: readonly string[], cwd = process.cwd()): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
