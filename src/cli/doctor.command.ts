import { Command } from 'commander';
import type { Config } from '../config/config.js';
import { configured } from './config-file.js';
import { failed, type Finding, ok } from './finding.js';
import type { Output } from './output.js';

/** Something is wrong: said in full already, so there is no more to say of it. */
export class UnwellError extends Error {}

/** `petstore doctor` */
export function doctorCommand(output: Output): Command {
  return new Command('doctor')
    .description('check configuration, database, schema, Redis, clocks, files, disk and ports')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const checks = await examine();
      const status = (['failed', 'warning'] as const).find((each) =>
        checks.some((check) => check.status === each),
      );
      output.print({ status: status ?? 'ok', checks }, json, () => describe(checks));
      if (status === 'failed') throw new UnwellError();
    });
}

async function examine(): Promise<Finding[]> {
  const [{ loadConfig, ConfigError }, { checkExtensions }, { settingsOf }, services, machine] =
    await Promise.all([
      import('../config/config.js'),
      import('../extensions/check.js'),
      import('../extensions/settings.js'),
      import('./doctor.services.js'),
      import('./doctor.machine.js'),
    ]);
  const [extensions, finding] = await extensionsOf(checkExtensions);
  let config: Config;
  try {
    config = loadConfig(undefined, settingsOf(extensions));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const cure = 'correct it in the environment, or in .env';
    const faults = error.faults.map((fault) => failed('configuration', fault, cure));
    return finding.status === 'ok' ? faults : [finding, ...faults];
  }
  const [database, redis, ports] = await Promise.all([
    services.examineDatabase(config, extensions),
    services.examineRedis(config),
    machine.examinePorts(config),
  ]);
  const files = machine.examineFiles(config);
  return [finding, ...database, ...redis, ...files, ...machine.examineDisk(config), ...ports];
}

type Checker = typeof import('../extensions/check.js').checkExtensions;

async function extensionsOf(check: Checker) {
  try {
    const known = await configured();
    check(known.extensions, known);
    const names =
      known.extensions.length === 1 ? '1 extension' : `${known.extensions.length} extensions`;
    return [known.extensions, ok('configuration', `valid, with ${names}`)] as const;
  } catch (error) {
    const cure = 'correct petstore.config.js, or the extension';
    return [[], failed('configuration', (error as Error).message, cure)] as const;
  }
}

const WORD = { ok: 'ok', warning: 'warning', failed: 'FAILED' } as const;

function describe(checks: readonly Finding[]): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  return checks
    .flatMap(({ check, status, detail, cure }) => [
      `${WORD[status].padEnd('warning'.length)}  ${check.padEnd(width)}  ${detail}`,
      ...(cure === null ? [] : [`${' '.repeat(width + 'warning'.length + 4)}cure: ${cure}`]),
    ])
    .join('\n');
}
