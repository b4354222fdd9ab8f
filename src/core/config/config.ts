import { lstatSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, IsString } from 'class-validator';
import { check, type Environment, IsInteger, mustBe, readSettings } from './settings.js';
import * as urls from './urls.js';

/** OpenTelemetry reads its other variables (`OTEL_...`) itself. */
const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;
type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const HTTP_URL = 'an http(s) URL';
const BASE_URL = 'an http(s) URL that ends with /v1, without a user, query or fragment';

const IsOneOf = (values: readonly string[]) =>
  mustBe(`one of ${values.join(', ')}`, (value: string) => values.includes(value));
const IsListOf = (expected: string, isEntry: (entry: string) => boolean) =>
  mustBe(
    `${expected}, or several separated by commas`,
    (value: string[] | false) => value === false || value.every(isEntry),
  );
const As = (convert: (text: string) => unknown) =>
  Transform(({ value }: { value: unknown }) => convert(String(value)));

/** Every setting of the service, validated. Nothing else reads the environment. */
export class Config {
  /** Instances of the settings classes of extensions. */
  readonly settings: readonly object[] = [];
  readonly production: boolean = false;

  @IsString() readonly host: string = '127.0.0.1';
  @IsInteger(0, 65_535) readonly port: number = 3000;
  /** 0 turns the metrics server off. */
  @IsInteger(0, 65_535) readonly metricsPort: number = 9464;
  @IsString() readonly metricsHost: string = '127.0.0.1';
  /** 0 turns the admin API off. */
  @IsInteger(0, 65_535) readonly adminPort: number = 0;
  @IsString() readonly adminHost: string = '127.0.0.1';
  /** Undefined: `http://localhost:PORT/v1` with the port in use. */
  @IsOptional()
  @As(urls.normalBaseUrl)
  @mustBe(BASE_URL, urls.isBaseUrl)
  readonly publicBaseUrl?: string;
  @IsOptional()
  @As(urls.normalBaseUrl)
  @mustBe(BASE_URL, urls.isBaseUrl)
  readonly stagingBaseUrl?: string;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is trusted. */
  @As((text) => text !== 'false' && urls.entriesOf(text))
  @IsListOf('the IP address or CIDR range of a proxy (not /0)', urls.isAddressOrRange)
  readonly trustProxy: false | string[] = false;
  @As(urls.entriesOf)
  @IsListOf('an exact origin such as https://app.example.com', urls.isOrigin)
  readonly corsOrigins: string[] = [];

  /** `sqlite:PATH` or `postgres://...`. */
  @As(String)
  @check(urls.databaseFault)
  readonly databaseUrl: string = 'sqlite:./data/petstore.db';
  @IsInteger(1, 1_000) readonly databasePoolSize: number = 10;
  /** `redis://...`; several, separated by commas, or `?cluster=true` select a cluster. */
  @IsOptional()
  @As((text) => urls.entriesOf(text).join())
  @check(urls.redisFault)
  readonly redisUrl?: string;

  /** 0 turns bans off. */
  @IsInteger(0, 1_000_000) readonly banAfterRejections: number = 100;
  @IsInteger(1, 86_400) readonly banSeconds: number = 300;
  @IsInteger(1, 1_000_000) readonly failedAuthPerMinute: number = 60;
  @IsInteger(1, 1_000_000_000) readonly failedAuthPerDay: number = 1_000;
  /** Event-loop lag that triggers 503 responses; 0 turns them off. */
  @IsInteger(0, 60_000) readonly shedAfterMs: number = 250;

  @IsInteger(1, 3_600) readonly shutdownGraceSeconds: number = 10;
  @IsInteger(1, 3_600) readonly requestTimeoutSeconds: number = 30;
  /** Default: 10, or `requestTimeoutSeconds` if that is shorter. */
  @IsOptional()
  @IsInteger(1, 3_600)
  readonly headersTimeoutSeconds!: number;
  /** Idle time after which the server closes a connection. */
  @IsInteger(1, 86_400) readonly keepAliveSeconds: number = 72;
  /** A client that reads no byte of its responses for this time is disconnected. */
  @IsInteger(1, 3_600) readonly sendTimeoutSeconds: number = 30;

  @IsOneOf(LOG_LEVELS) readonly logLevel: string = 'info';
  @IsOptional()
  @IsOneOf(['json', 'pretty'])
  readonly logFormat!: 'json' | 'pretty';
  @IsInteger(0, 36_500) readonly sunsetExtensionDays: number = 0;
  /** `mailto:` or `https:` address for security.txt. */
  @IsOptional()
  @mustBe('a mailto: or https: address', urls.isContact)
  readonly securityContact?: string;
  /** Undefined if tracing is off. */
  readonly tracing?: OtlpProtocol | undefined;
}

/** All faults of a configuration, one per line. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/**
 * Reads and validates all settings.
 * @param environment default: the process environment, over the `.env` file of the working
 *   directory
 * @param types the settings classes of extensions
 * @throws {ConfigError} with every fault
 */
export function loadConfig(
  environment: Environment = processEnvironment(),
  types: readonly Type<object>[] = [],
): Config {
  const { settings: config, faults } = readSettings(Config, environment);
  const extensions = types.map((type) => readSettings(type, environment));
  const production = isProduction(environment, faults);
  const { requestTimeoutSeconds, headersTimeoutSeconds = Math.min(10, requestTimeoutSeconds) } =
    config;
  if (headersTimeoutSeconds > requestTimeoutSeconds) {
    faults.push('HEADERS_TIMEOUT_SECONDS must not be greater than REQUEST_TIMEOUT_SECONDS');
  }
  const ports = [config.port, config.adminPort, config.metricsPort].filter((port) => port > 0);
  if (new Set(ports).size < ports.length) {
    faults.push('PORT, ADMIN_PORT and METRICS_PORT must differ');
  }
  const tracing = isTracing(environment) ? readSettings(Tracing, environment) : undefined;
  faults.push(...[...extensions, tracing].flatMap((each) => each?.faults ?? []));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.assign(config, {
    production,
    headersTimeoutSeconds,
    logFormat: config.logFormat ?? (production ? 'json' : 'pretty'),
    tracing: tracing?.settings.protocol,
    settings: extensions.map(({ settings }) => settings),
  });
}

/** Adds a fault for a word like `prod`: outside of production, the first start prints a key. */
function isProduction(environment: Environment, faults: string[]): boolean {
  const word = environment['NODE_ENV']?.trim() ?? '';
  if (word === 'production') return true;
  if (/^prod/i.test(word)) faults.push(`NODE_ENV must be production, not ${word}`);
  return false;
}

/** A value in quotes may have several lines. */
const QUOTED_LINES = /^[ \t]*(?:export +)?[\w.-]+[ \t]*=[ \t]*(["'`])[^]*?\1/gm;
/** A comment may follow the `=` that stands for such a value. */
const ENV_LINE = /^(?:=?\s*(?:#.*)?|\s*(?:export\s+)?[\w.-]+\s*=.*)$/;

/** Adds the `.env` file to the environment of the process, for OpenTelemetry as well. */
function processEnvironment(): Environment {
  let text = '';
  try {
    // A dangling symlink is an error, not a missing file.
    const exists = lstatSync('.env', { throwIfNoEntry: false }) !== undefined;
    if (exists) text = readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw new ConfigError([`.env cannot be read: ${(error as Error).message}`]);
  }
  // `parseEnv()` ignores a line that it does not understand, and text after a closing quote.
  const lines = text.replaceAll(QUOTED_LINES, (quoted) => `${quoted.replace(/[^\n]/g, '')}=`);
  const faults = lines
    .split(/\r?\n/)
    .flatMap((line, at) => (ENV_LINE.test(line) ? [] : [`.env, line ${at + 1} is not NAME=VALUE`]));
  if (faults.length > 0) throw new ConfigError(faults);
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
  return process.env;
}

class Tracing {
  @IsOneOf(OTLP_PROTOCOLS) readonly otelExporterOtlpProtocol: OtlpProtocol = 'http/protobuf';
  @IsOptional()
  @IsOneOf(OTLP_PROTOCOLS)
  readonly otelExporterOtlpTracesProtocol?: OtlpProtocol;
  @IsOptional() @mustBe(HTTP_URL, urls.isHttpUrl) readonly otelExporterOtlpEndpoint?: string;
  @IsOptional() @mustBe(HTTP_URL, urls.isHttpUrl) readonly otelExporterOtlpTracesEndpoint?: string;

  get protocol(): OtlpProtocol {
    return this.otelExporterOtlpTracesProtocol ?? this.otelExporterOtlpProtocol;
  }
}

function isTracing(environment: Environment): boolean {
  const exporter = environment['OTEL_TRACES_EXPORTER'];
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (exporter === 'none' || /^true$/i.test(environment['OTEL_SDK_DISABLED'] ?? '')) return false;
  return exporter === 'otlp' || endpoints.some((name) => environment[name]);
}
