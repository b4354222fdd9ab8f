import type { Config } from '../config/config.js';
import { fileOf, migrationNames, MIGRATIONS_TABLE } from '../database/data-source-options.js';
import type { DatabaseFacts } from '../database/database-facts.js';
import { describeMigration } from '../database/guest-migrations.js';
import { connectionFailure } from '../database/outage.js';
import { postgresFacts } from '../database/postgres/postgres.facts.js';
import { schemaState } from '../database/schema-state.js';
import { sqliteFacts } from '../database/sqlite/sqlite.facts.js';
import { SqliteFile } from '../database/sqlite/sqlite.file.js';
import { type Extension, migrationsOf } from '../extensions/define.js';
import { redisFacts, RedisLoadingError } from '../redis/redis.facts.js';
import { BUILD_AGAIN, NOT_LOADED, PATH_ALLOWED } from './failure.js';
import { failed, type Finding, ok, warning } from './finding.js';

const OLDEST_POSTGRESQL = 13;
/** A command of a request is given up after 100 ms: each node then counts by itself. */
const SLOW_REDIS_MS = 20;
const TOO_SLOW_REDIS_MS = 100;
/** Windows end by our clock: what differs is what a client is told wrongly. */
const CLOCK_OFF_MS = 1_000;
const CLOCK_WRONG_MS = 5_000;
const RESTORE = 'restore a backup (petstore restore FILE), or correct DATABASE_URL';
const REACH_POSTGRESQL =
  'see that PostgreSQL runs and can be reached from here, and that DATABASE_URL is right';
const SET_CLOCK = 'let NTP set the clocks of both machines (chrony, systemd-timesyncd)';

/** By the code of what was thrown. */
const FILE_CURES: Readonly<Record<string, string>> = {
  [NOT_LOADED]: BUILD_AGAIN,
  SQLITE_CANTOPEN: PATH_ALLOWED,
  SQLITE_READONLY: 'see what is said of the files below',
  SQLITE_READONLY_DIRECTORY: PATH_ALLOWED,
};

export async function examineDatabase(
  { databaseUrl }: Config,
  extensions: readonly Extension[],
): Promise<Finding[]> {
  const file = fileOf(databaseUrl);
  try {
    if (file !== undefined && !new SqliteFile(file).isThere()) {
      const cure = 'petstore migrate makes one, and so does serve; or correct DATABASE_URL';
      return [failed('database', `there is none at ${file}`, cure)];
    }
    const facts =
      file === undefined
        ? await postgresFacts(databaseUrl, MIGRATIONS_TABLE)
        : sqliteFacts(file, MIGRATIONS_TABLE);
    const isEmbedded = file !== undefined;
    return [
      reached(facts),
      schemaOf(facts, extensions, isEmbedded),
      ...clockOf('database', facts),
      ...ownClock(facts),
    ];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = connectionFailure(error) ?? message;
    const cure = file === undefined ? REACH_POSTGRESQL : (FILE_CURES[code ?? ''] ?? RESTORE);
    return [failed('database', `it cannot be used: ${reason}`, cure)];
  }
}

function reached({ engine, version, damage }: DatabaseFacts): Finding {
  if (damage !== undefined) return failed('database', `its file is damaged: ${damage}`, RESTORE);
  const isOld = engine === 'PostgreSQL' && Number.parseInt(version) < OLDEST_POSTGRESQL;
  if (!isOld) return ok('database', `${engine} ${version}`);
  return warning('database', `${engine} ${version}`, `use ${OLDEST_POSTGRESQL} or later`);
}

function schemaOf(
  { migrations }: DatabaseFacts,
  extensions: readonly Extension[],
  isEmbedded: boolean,
): Finding {
  const known = migrationNames(migrationsOf(extensions));
  const { behind, ahead, foreign } = schemaState(migrations ?? [], known);
  if (ahead.length > 0) {
    const detail = `it is ahead of this version by ${ahead.join(', ')}`;
    return warning(
      'schema',
      detail,
      'none after going back by one release; else run the version that made it, or a later one',
    );
  }
  if (behind.length > 0) {
    const detail = `it is behind this version by ${behind.map(describeMigration).join(', ')}`;
    if (isEmbedded) return warning('schema', detail, 'petstore migrate; serve does it as well');
    return failed('schema', detail, 'petstore migrate');
  }
  if (foreign.length > 0) {
    const cure = 'name these extensions in petstore.config.js, if they are still to be served';
    return warning(
      'schema',
      `it has ${foreign.map(describeMigration).join(', ')}, which is not served`,
      cure,
    );
  }
  return ok('schema', `up to date, ${known.length} migrations`);
}

export async function examineRedis({ redisUrl }: Config): Promise<Finding[]> {
  if (redisUrl === undefined) {
    return [ok('redis', 'none is configured: right for one node, which counts by itself')];
  }
  const urls = redisUrl.split(',');
  const findings = await Promise.all(urls.map((url) => examineOneRedis(url, urls.length > 1)));
  return findings.flat();
}

async function examineOneRedis(url: string, isCluster: boolean): Promise<Finding[]> {
  const { host } = new URL(url);
  try {
    const facts = await redisFacts(url, isCluster);
    const { version, latencyMs, evictionPolicy = 'noeviction' } = facts;
    const detail = `Redis ${version} at ${host}, ${latencyMs} ms`;
    const clock = clockOf(`redis at ${host}`, facts);
    if (evictionPolicy !== 'noeviction') {
      const cure = 'set its maxmemory-policy to noeviction, and its maxmemory to what is needed';
      const loss = `${detail}: it may throw counters away (${evictionPolicy})`;
      return [failed('redis', loss, cure), ...clock];
    }
    const cure = 'use a Redis that is nearer, or less busy';
    if (latencyMs > TOO_SLOW_REDIS_MS) return [failed('redis', detail, cure), ...clock];
    if (latencyMs > SLOW_REDIS_MS) return [warning('redis', detail, cure), ...clock];
    return [ok('redis', detail), ...clock];
  } catch (error) {
    const cure =
      error instanceof RedisLoadingError
        ? 'wait until it has; meanwhile each node counts by itself'
        : 'see that Redis runs and can be reached from here, and that REDIS_URL is right';
    return [failed('redis', `${host} cannot be used: ${(error as Error).message}`, cure)];
  }
}

function clockOf(whose: string, { clockAheadMs }: { clockAheadMs: number | undefined }): Finding[] {
  if (clockAheadMs === undefined) return [];
  const off = Math.round(Math.abs(clockAheadMs));
  const detail = `that of the ${whose} is ${off} ms ${clockAheadMs < 0 ? 'behind' : 'ahead'}`;
  if (off > CLOCK_WRONG_MS) return [failed('clock', detail, SET_CLOCK)];
  if (off > CLOCK_OFF_MS) return [warning('clock', detail, SET_CLOCK)];
  return [ok('clock', detail)];
}

/** A database without a clock has what was written by ours: later than now, and ours was set back. */
function ownClock({ latestMs }: DatabaseFacts): Finding[] {
  if (latestMs === undefined) return [];
  const behind = Math.round(latestMs - Date.now());
  if (behind <= CLOCK_OFF_MS) return [ok('clock', 'not behind what was written last')];
  const detail = `ours is ${behind} ms behind what was written last: it was set back`;
  const cure = 'let NTP set the clock (chrony, systemd-timesyncd): quotas and bans go by it';
  return [behind > CLOCK_WRONG_MS ? failed('clock', detail, cure) : warning('clock', detail, cure)];
}
