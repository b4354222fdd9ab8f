import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { type Config, ConfigError, loadConfig } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { checkExtensions } from '../extensions/check.js';
import { settingsOf } from '../extensions/settings.js';
import { type CommonOptions, loadExtensions } from './common-options.js';
import { checkDatabase } from './doctor.database.js';
import { failed, type Finding, ok, warning } from './doctor.findings.js';
import { checkRedis } from './doctor.redis.js';

const OTHERS = 0o077;
const SETTINGS_FIX = 'correct the environment variable, or .env';

/** Runs every check. Without a valid configuration, there is nothing else to check. */
export async function examine(options: CommonOptions): Promise<Finding[]> {
  let known: Awaited<ReturnType<typeof loadExtensions>>;
  try {
    known = await loadExtensions(options);
    checkExtensions(known.extensions, known);
  } catch (error) {
    const fix = 'correct petstore.config.js or the extension';
    return [failed('configuration', (error as Error).message, fix)];
  }
  const { extensions } = known;
  let config: Config;
  try {
    config = loadConfig(undefined, settingsOf(extensions));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) => failed('configuration', fault, SETTINGS_FIX));
  }
  const [database, redis] = await Promise.all([
    checkDatabase(config, extensions),
    checkRedis(config),
  ]);
  const detail = `valid, ${extensions.length} extension${extensions.length === 1 ? '' : 's'}`;
  const settings = config.warnings.map((fault) => warning('configuration', fault, SETTINGS_FIX));
  const configuration = settings.length > 0 ? settings : [ok('configuration', detail)];
  return [...configuration, ...database, ...redis, ...checkFiles(config)];
}

/** Only the owner may read the database, which holds digests of keys, and `.env`, which may hold passwords. */
function checkFiles({ databaseUrl }: Config): Finding[] {
  const database = fileOf(databaseUrl);
  const files = database === undefined ? [] : ['', '-wal', '-shm'].map((end) => database + end);
  const findings = [...files, '.env'].filter(existsSync).flatMap((path) => {
    if ((statSync(path).mode & OTHERS) !== 0) {
      const severity = path === '.env' ? warning : failed;
      return [severity('files', `other users can read ${path}`, `chmod 600 ${path}`)];
    }
    if (path === '.env' || isWritable(path)) return [];
    return [failed('files', `${path} is not writable`, 'make its owner the user that runs serve')];
  });
  return findings.length > 0 ? findings : [ok('files', 'readable only by their owner')];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
