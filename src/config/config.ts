import { isIP } from 'node:net';
import { compile } from '@fastify/proxy-addr';
import { config as readDotEnv } from 'dotenv';
import { type Environment, SettingReader } from './setting-reader.js';

export type { Environment } from './setting-reader.js';

/** OpenTelemetry reads its other variables (`OTEL_...`) itself. */
const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;

const DATABASE_URLS =
  'sqlite:PATH, without // and parameters, or postgres://USER:PASSWORD@HOST:PORT/DATABASE';
const REDIS_URLS = 'redis://HOST:PORT or rediss://HOST:PORT, without a path or with a number';

/**
 * Every setting of the service, validated. Nothing else reads the environment. A class, so that
 * Nest can inject it.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- `readConfig` declares the members
export abstract class Config {}
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type
export interface Config extends Readonly<ReturnType<typeof readConfig>> {}

/** All faults of a configuration, one per line. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** Reads the settings of an extension from the same environment. */
export type SettingsReader = (environment: Environment) => {
  settings: object;
  faults: readonly string[];
};

/**
 * Reads and validates all settings.
 * @param environment default: the process environment, over the `.env` file of the working
 *   directory
 * @throws {ConfigError} with every fault
 */
export function loadConfig(
  environment: Environment = processEnvironment(),
  readers: readonly SettingsReader[] = [],
): Config {
  const read = new SettingReader(environment);
  const extensions = readers.map((reader) => reader(environment));
  const settings = extensions.map((each) => each.settings);
  const config = readConfig(read, settings);
  const faults = [...read.faults, ...extensions.flatMap((each) => each.faults)];
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** Adds the `.env` file to the environment of the process, for OpenTelemetry as well. */
function processEnvironment(): Environment {
  const { error } = readDotEnv({ quiet: true });
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'EACCES') throw new ConfigError([message]);
  return process.env;
}

function readConfig(read: SettingReader, settings: object[]) {
  const production = read.text('NODE_ENV') === 'production';
  return {
    production,
    /** Instances of the settings classes of extensions. */
    settings,
    ...readAddresses(read),
    /** `sqlite:PATH` or `postgres://...`. */
    databaseUrl:
      read.valid('DATABASE_URL', DATABASE_URLS, isDatabaseUrl) ?? 'sqlite:./data/petstore.db',
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 1, 1_000),
    /** `redis://...`; several, separated by commas, or `?cluster=true` select a cluster. */
    redisUrl: read.list('REDIS_URL', REDIS_URLS, isRedisUrl)?.join(),
    /** 0 turns bans off. */
    banAfterRejections: read.integer('BAN_AFTER_REJECTIONS', 100, 0, 1_000_000),
    banSeconds: read.integer('BAN_SECONDS', 300, 1, 86_400),
    failedAuthPerMinute: read.integer('FAILED_AUTH_PER_MINUTE', 60, 1, 1_000_000),
    failedAuthPerDay: read.integer('FAILED_AUTH_PER_DAY', 1_000, 1, 1_000_000_000),
    /** Event-loop lag that triggers 503 responses; 0 turns them off. */
    shedAfterMs: read.integer('SHED_AFTER_MS', 250, 0, 60_000),
    ...readTimeouts(read),
    logLevel: read.oneOf(
      'LOG_LEVEL',
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
    ),
    logFormat: read.oneOf('LOG_FORMAT', ['json', 'pretty'], production ? 'json' : 'pretty'),
    sunsetExtensionDays: read.integer('SUNSET_EXTENSION_DAYS', 0, 0, 36_500),
    /** `mailto:` or `https:` address for security.txt. */
    securityContact: read.valid('SECURITY_CONTACT', 'a mailto: or https: address', isContact),
    /** Undefined if tracing is off. */
    tracing: readTracing(read),
  };
}

function readAddresses(read: SettingReader) {
  return {
    host: read.text('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 3000, 0, 65_535),
    /** 0 turns the metrics server off. */
    metricsPort: read.integer('METRICS_PORT', 9464, 0, 65_535),
    metricsHost: read.text('METRICS_HOST') ?? '127.0.0.1',
    /** 0 turns the admin API off. */
    adminPort: read.integer('ADMIN_PORT', 0, 0, 65_535),
    adminHost: read.text('ADMIN_HOST') ?? '127.0.0.1',
    /** Undefined: `http://localhost:PORT/v1` with the port in use. */
    publicBaseUrl: readBaseUrl(read, 'PUBLIC_BASE_URL'),
    stagingBaseUrl: readBaseUrl(read, 'STAGING_BASE_URL'),
    /** Addresses and CIDR ranges whose `X-Forwarded-For` is trusted. */
    trustProxy:
      read.text('TRUST_PROXY') !== 'false' &&
      (read.list('TRUST_PROXY', 'an IP address or a CIDR range', isAddressOrRange) ?? false),
    corsOrigins:
      read.list('CORS_ORIGINS', 'an exact origin such as https://app.example.com', isOrigin) ?? [],
  };
}

function readTimeouts(read: SettingReader) {
  const requestTimeoutSeconds = read.integer('REQUEST_TIMEOUT_SECONDS', 30, 1, 3_600);
  const fallback = Math.min(10, requestTimeoutSeconds);
  const headersTimeoutSeconds = read.integer('HEADERS_TIMEOUT_SECONDS', fallback, 1, 3_600);
  if (headersTimeoutSeconds > requestTimeoutSeconds) {
    read.faults.push('HEADERS_TIMEOUT_SECONDS must not be greater than REQUEST_TIMEOUT_SECONDS');
  }
  return {
    shutdownGraceSeconds: read.integer('SHUTDOWN_GRACE_SECONDS', 10, 1, 3_600),
    headersTimeoutSeconds,
    requestTimeoutSeconds,
    /** Idle time after which the server closes a connection. */
    keepAliveSeconds: read.integer('KEEP_ALIVE_SECONDS', 72, 1, 86_400),
    /** A client that reads no byte of its responses for this time is disconnected. */
    sendTimeoutSeconds: read.integer('SEND_TIMEOUT_SECONDS', 30, 1, 3_600),
  };
}

/** Without a trailing slash, and encoded as header fields require. */
function readBaseUrl(read: SettingReader, name: string): string | undefined {
  const expected = 'an http(s) URL that ends with /v1, without a user, query or fragment';
  const text = read.valid(name, expected, isBaseUrl);
  return text && new URL(text).href.replace(/\/+$/, '');
}

function readTracing(read: SettingReader) {
  const { environment } = read;
  const exporter = environment['OTEL_TRACES_EXPORTER'];
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const isOn = exporter === 'otlp' || endpoints.some((name) => environment[name]);
  const isOff = exporter === 'none' || /^true$/i.test(environment['OTEL_SDK_DISABLED'] ?? '');
  if (isOff || !isOn) return undefined;
  const ofSignals = read.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', OTLP_PROTOCOLS, 'http/protobuf');
  return read.oneOf('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', OTLP_PROTOCOLS, ofSignals);
}

/** A URL of PostgreSQL that `URL` can parse: the driver accepts one without a host as well. */
export function withHost(url: string): string {
  return url.replace('@/', '@localhost/');
}

const isUrl = (form: RegExp) => (text: string) => form.test(text) && URL.canParse(text);
const isBaseUrl = isUrl(/^(?:https?|HTTPS?):\/\/[^@?#]+\/v1\/*$/);
const isSqliteUrl = isUrl(/^sqlite:(?!:memory:|file:|\/\/)[^?]+$/);
const isPostgresUrl = isUrl(/^postgres(?:ql)?:\/\/./);
const isDatabaseUrl = (text: string) => isSqliteUrl(text) || isPostgresUrl(withHost(text));
const isContact = isUrl(/^(?:mailto:[^@\s]+@|https:\/\/)[^@\s]+$/);
const isOriginUrl = isUrl(/^https?:\/\/[^*]+$/);
const isRedisUrl = isUrl(/^rediss?:\/\/(?!.*%(?![\dA-Fa-f]{2}))[^/?#]+(?:\/\d*)?(?:\?|$)/);

/** Whether a browser can send this as the `Origin` header: in this form, and without a wildcard. */
function isOrigin(text: string): boolean {
  return isOriginUrl(text) && new URL(text).origin === text;
}

function isAddressOrRange(text: string): boolean {
  try {
    // `compile` accepts names, such as loopback, and plain integers as well.
    return isIP(text.split('/')[0]!) !== 0 && Boolean(compile(text));
  } catch {
    return false;
  }
}
