import type { Command } from 'commander';
import { addCommand, type CommonOptions } from './common-options.js';
import type { Finding } from './doctor.findings.js';
import type { Output } from './output.js';

/** A check failed; the report that was printed names it. */
export class ChecksFailedError extends Error {}

const LABELS = { ok: 'ok', warning: 'warning', failed: 'FAILED' } as const;

/** Adds `petstore doctor`. */
export function addDoctorCommand(program: Command, output: Output): void {
  addCommand(
    program,
    'doctor',
    'check configuration, database, schema, Redis, clocks and files, and report fixes',
    ['doctor', 'doctor --json'],
  ).action(async (options: CommonOptions) => {
    const { examine } = await import('./doctor.js');
    const checks = await examine(options);
    const statuses = checks.map(({ status }) => status);
    const status = (['failed', 'warning'] as const).find((each) => statuses.includes(each)) ?? 'ok';
    output.print({ status, checks }, options.json, () => describe(checks));
    if (status === 'failed') throw new ChecksFailedError();
  });
}

function describe(checks: readonly Finding[]): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const indent = ' '.repeat('warning'.length + width + 4);
  return checks
    .flatMap(({ check, status, detail, fix }) => [
      `${LABELS[status].padEnd('warning'.length)}  ${check.padEnd(width)}  ${detail}`,
      ...(fix === null ? [] : [`${indent}fix: ${fix}`]),
    ])
    .join('\n');
}
