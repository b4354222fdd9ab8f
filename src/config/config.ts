import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parse } from 'dotenv';

/** Where OpenTelemetry sends spans, by its own variables (OTEL_...), of which these are all. */
export interface Tracing {
  protocol: OtlpProtocol;
  variables: Record<string, string>;
}
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];
const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const TURN_TRACING_ON = [
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
];
/** How callers may tell of a trace of theirs: these two are always heeded. */
const PROPAGATORS = ['tracecontext', 'baggage'];

export type LogFormat = 'json' | 'pretty';
export type LogLevel = (typeof LOG_LEVELS)[number];
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Every setting of the service, validated. Nothing else reads the environment. */
export abstract class Config {
  abstract readonly production: boolean;
  /** Those of extensions, by their classes. */
  abstract readonly settings: readonly object[];
  abstract readonly host: string;
  abstract readonly port: number;
  /** `sqlite:PATH` or `postgres://...`. */
  abstract readonly databaseUrl: string;
  abstract readonly databasePoolSize: number;
  /** `redis://...`; several, separated by commas, are the nodes of a cluster. */
  abstract readonly redisUrl: string | undefined;
  /** No trailing slash. Undefined: `http://localhost:PORT/v1` with the port in use. */
  abstract readonly publicBaseUrl: string | undefined;
  abstract readonly stagingBaseUrl: string | undefined;
  /** 0 turns the metrics server off. */
  abstract readonly metricsPort: number;
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is believed. */
  abstract readonly trustProxy: false | string[];
  abstract readonly corsOrigins: string[];
  abstract readonly logLevel: LogLevel;
  abstract readonly logFormat: LogFormat;
  /** 0 turns bans off. */
  abstract readonly banAfterRejections: number;
  abstract readonly banSeconds: number;
  abstract readonly failedAuthPerMinute: number;
  abstract readonly failedAuthPerDay: number;
  abstract readonly shutdownGraceSeconds: number;
  abstract readonly headersTimeoutSeconds: number;
  abstract readonly requestTimeoutSeconds: number;
  /** How long a client may take no byte of its answers. */
  abstract readonly sendTimeoutSeconds: number;
  /** How late the event loop may be, for a whole second, before a share of the requests is refused; 0: none is. */
  abstract readonly shedAfterMs: number;
  abstract readonly sunsetExtensionDays: number;
  /** Undefined: nothing is traced. */
  abstract readonly tracing: Tracing | undefined;
}

/** All faults of a configuration at once, one per line. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

/** Who listens there listens where metrics are, too. */
const WITH_LOOPBACK = new Set(['127.0.0.1', 'localhost', '0.0.0.0', '::']);

/** SQLite's `:memory:` is that of one connection, and there are several. */
const IN_A_FILE = 'a database in a file: one in memory could not keep an animal';

export type Environment = Readonly<Record<string, string | undefined>>;
/** Reads settings of somebody else's from the same environment, and says what is wrong with them. */
export type SettingsReader = (environment: Environment) => {
  settings: object;
  faults: readonly string[];
};

/** @throws {ConfigError} naming every fault. */
export function loadConfig(
  environment: Environment = withDotEnv(process.env),
  readers: readonly SettingsReader[] = [],
): Config {
  const read = new Reader(environment);
  const further = readers.map((reader) => reader(environment));
  const production = environment['NODE_ENV'] === 'production';
  const config: Config = {
    production,
    settings: further.map(({ settings }) => settings),
    host: read.text('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 3000, 0, 65_535),
    databaseUrl: read.databaseUrl('DATABASE_URL', 'sqlite:./data/petstore.db'),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 1, 1_000),
    redisUrl: read.redisUrl('REDIS_URL'),
    publicBaseUrl: read.baseUrl('PUBLIC_BASE_URL'),
    stagingBaseUrl: read.baseUrl('STAGING_BASE_URL'),
    metricsPort: read.integer('METRICS_PORT', 9464, 0, 65_535),
    trustProxy: read.trustProxy('TRUST_PROXY'),
    corsOrigins: read.origins('CORS_ORIGINS'),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    logFormat: read.oneOf('LOG_FORMAT', ['json', 'pretty'], production ? 'json' : 'pretty'),
    banAfterRejections: read.integer('BAN_AFTER_REJECTIONS', 100, 0, 1_000_000),
    banSeconds: read.integer('BAN_SECONDS', 300, 1, 86_400),
    failedAuthPerMinute: read.integer('FAILED_AUTH_PER_MINUTE', 60, 1, 1_000_000),
    failedAuthPerDay: read.integer('FAILED_AUTH_PER_DAY', 1_000, 1, 1_000_000_000),
    shutdownGraceSeconds: read.integer('SHUTDOWN_GRACE_SECONDS', 10, 1, 3_600),
    headersTimeoutSeconds: read.integer('HEADERS_TIMEOUT_SECONDS', 10, 1, 3_600),
    requestTimeoutSeconds: read.integer('REQUEST_TIMEOUT_SECONDS', 30, 1, 3_600),
    shedAfterMs: read.integer('SHED_AFTER_MS', 250, 0, 60_000),
    sendTimeoutSeconds: read.integer('SEND_TIMEOUT_SECONDS', 30, 1, 3_600),
    sunsetExtensionDays: read.integer('SUNSET_EXTENSION_DAYS', 0, 0, 36_500),
    tracing: read.tracing(),
  };
  if (config.headersTimeoutSeconds > config.requestTimeoutSeconds) {
    read.faults.push('HEADERS_TIMEOUT_SECONDS must not be greater than REQUEST_TIMEOUT_SECONDS');
  }
  const { host, port, metricsPort } = config;
  if (port !== 0 && port === metricsPort && WITH_LOOPBACK.has(host)) {
    read.faults.push('METRICS_PORT must be another one than PORT, or 0');
  }
  const faults = [...read.faults, ...further.flatMap((each) => each.faults)];
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** The process environment over the `.env` file of the working directory. */
function withDotEnv(environment: Environment): Environment {
  try {
    return { ...parse(readFileSync('.env')), ...environment };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return environment;
    throw new ConfigError([`.env cannot be read: ${(error as Error).message}`]);
  }
}

/** Reads one variable after the other and collects what is wrong with them. */
class Reader {
  readonly faults: string[] = [];

  constructor(private readonly environment: Environment) {}

  /** An empty variable is an unset one, as in a shell's `VAR= command`. */
  text(name: string): string | undefined {
    return this.environment[name]?.trim() || undefined;
  }

  integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    return this.fault(name, `a whole number from ${minimum} to ${maximum}`, fallback);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = allowed.find((candidate) => candidate === text);
    return value ?? this.fault(name, `one of ${allowed.join(', ')}`, fallback);
  }

  url(name: string, protocols: readonly string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    return this.fault(name, `a URL that starts with ${protocols.join('// or ')}//`, undefined);
  }

  redisUrl(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const urls = splitList(text);
    const isRedis = (url: string): boolean => URL.canParse(url) && /^rediss?:\/\//.test(url);
    if (urls.length > 0 && urls.every(isRedis)) return urls.join();
    return this.fault(
      name,
      'redis://HOST:PORT, or a comma list of the nodes of a cluster',
      undefined,
    );
  }

  databaseUrl(name: string, fallback: string): string {
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (text === 'sqlite::memory:') return this.fault(name, IN_A_FILE, fallback);
    if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length) return text;
    if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
    // The value itself may hold a password, so it is not repeated.
    return this.fault(name, 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE', fallback);
  }

  /** As header fields may hold it: a name or path of other letters is encoded. */
  baseUrl(name: string): string | undefined {
    const text = this.url(name, ['http:', 'https:']);
    if (text === undefined) return undefined;
    const { href, pathname, username, password } = new URL(text);
    if (username || password || /[?#]/.test(href)) {
      return this.fault(name, 'a URL without a user, query or fragment', undefined);
    }
    // Without it, Link and Location would lead to where nothing is served.
    if (!/\/v1\/*$/.test(pathname)) return this.fault(name, 'a URL that ends with /v1', undefined);
    return href.replace(/\/+$/, '');
  }

  trustProxy(name: string): false | string[] {
    const text = this.text(name);
    if (text === undefined || text === 'false') return false;
    const entries = splitList(text);
    return entries.length > 0 && entries.every(isAddressOrRange)
      ? entries
      : this.fault(name, 'false or a comma list of IP addresses and CIDR ranges', false as const);
  }

  origins(name: string): string[] {
    const entries = splitList(this.text(name) ?? '');
    return entries.every((entry) => URL.canParse(entry) && new URL(entry).origin === entry)
      ? entries
      : this.fault(name, 'a comma list of exact origins such as https://app.example.com', []);
  }

  /** OpenTelemetry's own variables. */
  tracing(): Tracing | undefined {
    const exporter = this.oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'] as const, 'otlp');
    this.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
    this.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:']);
    const ofAll = this.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', OTLP_PROTOCOLS, 'http/protobuf');
    const protocol = this.oneOf('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', OTLP_PROTOCOLS, ofAll);
    const isDisabled = this.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
    // One that is faulty is meant as well, and so the faults of what goes with it are told at once.
    const isMeant = TURN_TRACING_ON.some((name) => this.text(name) !== undefined);
    if (isDisabled || exporter === 'none' || !isMeant) return undefined;
    const propagators = splitList(this.text('OTEL_PROPAGATORS') ?? '');
    if (!propagators.every((each) => PROPAGATORS.includes(each))) {
      this.fault('OTEL_PROPAGATORS', `a comma list of ${PROPAGATORS.join(', ')}`, undefined);
    }
    const variables = Object.entries(this.environment).filter(
      (entry): entry is [string, string] => entry[0].startsWith('OTEL_') && entry[1] !== undefined,
    );
    return { protocol, variables: Object.fromEntries(variables) };
  }

  private fault<T>(name: string, expected: string, fallback: T): T {
    this.faults.push(`${name} must be ${expected}`);
    return fallback;
  }
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}
