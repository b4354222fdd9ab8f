import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from './config.js';

describe(loadConfig.name, () => {
  it('has a default for everything', () => {
    expect(loadConfig({})).toEqual({
      production: false,
      settings: [],
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: 'sqlite:./data/petstore.db',
      databasePoolSize: 10,
      redisUrl: undefined,
      publicBaseUrl: undefined,
      stagingBaseUrl: undefined,
      metricsPort: 9464,
      metricsHost: '127.0.0.1',
      adminPort: 0,
      adminHost: '127.0.0.1',
      trustProxy: false,
      corsOrigins: [],
      logLevel: 'info',
      logFormat: 'pretty',
      banAfterRejections: 100,
      banSeconds: 300,
      failedAuthPerMinute: 60,
      failedAuthPerDay: 1000,
      shutdownGraceSeconds: 10,
      headersTimeoutSeconds: 10,
      requestTimeoutSeconds: 30,
      keepAliveSeconds: 72,
      sendTimeoutSeconds: 30,
      shedAfterMs: 250,
      sunsetExtensionDays: 0,
    });
  });

  it('logs JSON in production', () => {
    expect(loadConfig({ NODE_ENV: 'production' })).toMatchObject({
      production: true,
      logFormat: 'json',
    });
  });

  it('takes an empty variable for an unset one', () => {
    expect(loadConfig({ PORT: '', TRUST_PROXY: ' ' })).toMatchObject({
      port: 3000,
      trustProxy: false,
    });
  });

  it('reads every variable', () => {
    expect(
      loadConfig({
        PORT: '8080',
        HOST: '0.0.0.0',
        DATABASE_URL: 'postgres://u:p@db:5432/pets',
        REDIS_URL: 'rediss://r:6380',
        PUBLIC_BASE_URL: 'https://api.example.com/v1/',
        STAGING_BASE_URL: 'https://staging.example.com/v1',
        TRUST_PROXY: '10.0.0.0/8, ::1,2001:db8::/32',
        CORS_ORIGINS: 'https://a.example,http://localhost:8080',
        METRICS_PORT: '0',
        METRICS_HOST: '10.0.0.7',
        KEEP_ALIVE_SECONDS: '620',
        SHED_AFTER_MS: '0',
        SECURITY_CONTACT: 'mailto:security@example.com',
      }),
    ).toMatchObject({
      port: 8080,
      host: '0.0.0.0',
      databaseUrl: 'postgres://u:p@db:5432/pets',
      redisUrl: 'rediss://r:6380',
      publicBaseUrl: 'https://api.example.com/v1',
      stagingBaseUrl: 'https://staging.example.com/v1',
      trustProxy: ['10.0.0.0/8', '::1', '2001:db8::/32'],
      corsOrigins: ['https://a.example', 'http://localhost:8080'],
      metricsPort: 0,
      metricsHost: '10.0.0.7',
      keepAliveSeconds: 620,
      shedAfterMs: 0,
      securityContact: 'mailto:security@example.com',
    });
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '80a'],
    ['DATABASE_URL', 'mysql://x'],
    ['DATABASE_URL', 'sqlite:'],
    ['DATABASE_URL', 'sqlite::memory:'],
    ['DATABASE_URL', 'sqlite:./p.db?journal_mode=WAL'],
    ['DATABASE_URL', 'sqlite://p.db'],
    ['DATABASE_URL', 'sqlite:file:p.db'],
    ['DATABASE_POOL_SIZE', '0'],
    ['REDIS_URL', 'http://x'],
    ['REDIS_URL', 'nonsense'],
    ['REDIS_URL', 'redis://h:6379/abc'],
    ['REDIS_URL', 'redis://:50%@h'],
    ['PUBLIC_BASE_URL', 'ftp://x'],
    ['PUBLIC_BASE_URL', 'https://x/v1?a=b'],
    ['PUBLIC_BASE_URL', 'https://user:secret@x/v1'],
    ['PUBLIC_BASE_URL', 'https://x'],
    ['PUBLIC_BASE_URL', 'https://x/v1/pets'],
    ['PUBLIC_BASE_URL', 'https://x/api-v1'],
    ['PUBLIC_BASE_URL', 'https://x/V1'],
    ['STAGING_BASE_URL', 'https://x/v2'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', '10.0.0.0/8,loopback'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '::/0'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://a.example/'],
    ['CORS_ORIGINS', 'https://*.a.example'],
    ['CORS_ORIGINS', 'https://a.example:443'],
    ['KEEP_ALIVE_SECONDS', '0'],
    ['SECURITY_CONTACT', 'security@example.com'],
    ['SECURITY_CONTACT', 'http://example.com/security'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['BAN_AFTER_REJECTIONS', '1.5'],
    ['SUNSET_EXTENSION_DAYS', 'ten'],
    ['DATABASE_URL', '5'],
    ['REDIS_URL', 'true'],
    ['REDIS_URL', 'redis://:%FF@h'],
    ['DATABASE_URL', 'postgres://u:%FF@h/db'],
  ])('rejects %s=%s with its name', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`${name} must be`));
  });

  it('says that TRUST_PROXY has no range of all addresses', () => {
    expect(() => loadConfig({ TRUST_PROXY: '0.0.0.0/0' })).toThrow(
      'TRUST_PROXY must be the IP address or CIDR range of a proxy (not /0), or several ' +
        'separated by commas, not ["0.0.0.0/0"]',
    );
  });

  it('shows a wrong value, unless it may have a password', () => {
    expect(() => loadConfig({ PORT: '80a' })).toThrow(
      'PORT must be an integer between 0 and 65535, not "80a"',
    );
    expect(() => loadConfig({ DATABASE_URL: 'mysql://user:secret@host' })).toThrow(
      /DATABASE_URL must be (?!.*secret)/,
    );
  });

  it.each([
    ['DATABASE_URL', 'sqlite://p.db', /must be sqlite:PATH, without \/\/ and parameters/],
    ['DATABASE_URL', 'postgres://u:secret#1@h/db', /in the password, write # as %23/],
    ['REDIS_URL', 'redis://:secret,1@h', /in the password, write # as %23/],
    ['DATABASE_URL', 'postgres://u:12?secret@h/db', /in the password, write # as %23/],
    ['DATABASE_URL', 'postgres://u:12/secret@h/db', /in the password, write # as %23/],
    ['REDIS_URL', 'redis://u:12?secret@h', /in the password, write # as %23/],
    ['REDIS_URL', 'redis://u:12/3?secret@h', /in the password, write # as %23/],
    ['DATABASE_URL', 'postgres://u:secret@h/db#x', /write # as %23/],
    ['DATABASE_URL', 'postgres://u:secret word%2F@h/db', /a space as %20/],
    ['DATABASE_URL', 'postgres://u:secret@h/db%00x', /^DATABASE_URL must be sqlite/],
    ['REDIS_URL', 'redis://h:6379/abc', /without a path or with a number/],
    ['PUBLIC_BASE_URL', 'https://x/V1', /ends with \/v1/],
  ])('says what is valid instead of %s=%s, and repeats no password', (name, value, cure) => {
    expect(() => loadConfig({ [name]: value })).toThrow(cure);
    expect(() => loadConfig({ [name]: value })).not.toThrow(/secret/);
  });

  it.each([
    ['sqlite:.', 'must have the path of a file, but . is a folder'],
    [`sqlite:${tmpdir()}`, `must have the path of a file, but ${tmpdir()} is a folder`],
    ['sqlite:./data/', 'must have the path of a file, but ./data/ is a folder'],
    ['sqlite:/dev/null', 'must have the path of a file, but /dev/null is a device, pipe or socket'],
    ['sqlite:~/p.db', 'takes the path as written, so it must not contain ~: ~/p.db'],
    ['sqlite:a%20b.db', 'takes the path as written, so it must not contain %: a%20b.db'],
    ['sqlite:$HOME/p.db', 'takes the path as written, so it must not contain $: $HOME/p.db'],
    ['postgres://u:secret@h/db?sslmod=require', 'has the unknown parameter sslmod'],
    ['postgres://u:secret@h/db?sslmode=required', 'has the unknown sslmode required'],
  ])('does not pass on a part of DATABASE_URL=%s that the driver misreads', (url, fault) => {
    expect(() => loadConfig({ DATABASE_URL: url })).toThrow(
      new ConfigError([`DATABASE_URL ${fault}`]),
    );
  });

  it.each([
    ['redis://:secret@h?connectTimeout=x', 'has the unknown parameter connectTimeout'],
    [
      'redis://h/1,redis://i',
      'must not have the number of a database: a Redis Cluster has only database 0',
    ],
    [
      'redis://h/1?cluster=true',
      'must not have the number of a database: a Redis Cluster has only database 0',
    ],
    ['redis://h?db=99', 'has the unknown parameter db'],
    ['redis://h?cluster=yes', 'has a cluster that must match ^(?:true|false)$'],
    ['redis://h?family=v6', 'has a family that must match ^[046]$'],
  ])('does not pass on a part of REDIS_URL=%s that the driver misreads', (url, fault) => {
    expect(() => loadConfig({ REDIS_URL: url })).toThrow(new ConfigError([`REDIS_URL ${fault}`]));
  });

  it.each([
    ['databaseUrl', 'DATABASE_URL', 'sqlite:./a~x/p.db'],
    ['databaseUrl', 'DATABASE_URL', 'sqlite:./päth with space/p.db'],
    ['databaseUrl', 'DATABASE_URL', 'postgres://u:p@/db?host=/run/pg'],
    ['databaseUrl', 'DATABASE_URL', 'postgres:///db?host=/run/pg'],
    ['redisUrl', 'REDIS_URL', 'rediss://u:p@h:6379/3?family=6'],
    ['redisUrl', 'REDIS_URL', 'redis://h?cluster=true'],
  ])('accepts as %s what the driver accepts: %s=%s', (member, name, value) => {
    expect(loadConfig({ [name]: value })).toHaveProperty(member, value);
  });

  it('has base addresses that header fields can hold', () => {
    const config = loadConfig({
      PUBLIC_BASE_URL: 'https://例え.jp/v1/',
      STAGING_BASE_URL: 'HTTPS://x:443/é b/v1//',
    });
    expect(config).toMatchObject({
      publicBaseUrl: 'https://xn--r8jz45g.jp/v1',
      stagingBaseUrl: 'https://x/%C3%A9%20b/v1',
    });
  });

  it('lists all faults, and repeats no secret', () => {
    const load = () =>
      loadConfig({ PORT: 'x', DATABASE_URL: 'mysql://user:secret@host', LOG_LEVEL: 'y' });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(/PORT must be[^]*DATABASE_URL must be[^]*LOG_LEVEL must be/);
    expect(load).not.toThrow(/secret/);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
  ])('rejects %s=%s with an endpoint, and ignores it without one', (name, value) => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };
    expect(loadConfig(endpoint).tracing).toBe('http/protobuf');
    expect(() => loadConfig({ ...endpoint, [name]: value })).toThrow(`${name} must be`);
    expect(loadConfig({ [name]: value }).tracing).toBeUndefined();
    expect(loadConfig({ ...endpoint, [name]: value, OTEL_SDK_DISABLED: 'true' })).toMatchObject({
      tracing: undefined,
    });
  });

  it.each(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])(
    'rejects %s without a scheme, where no trace would arrive',
    (name) => {
      const load = () => loadConfig({ [name]: 'collector:4318' });
      expect(load).toThrow(`${name} must be an http(s) URL`);
    },
  );

  it('rejects a headers timeout longer than the request timeout', () => {
    expect(() =>
      loadConfig({ HEADERS_TIMEOUT_SECONDS: '20', REQUEST_TIMEOUT_SECONDS: '10' }),
    ).toThrow(/HEADERS_TIMEOUT_SECONDS must not be greater/);
    const short = loadConfig({ REQUEST_TIMEOUT_SECONDS: '5' });
    expect(short).toMatchObject({ headersTimeoutSeconds: 5, requestTimeoutSeconds: 5 });
  });

  it('rejects a port that two listeners would use, but not 0', () => {
    const ports = { PORT: '4750', METRICS_PORT: '4750' };
    const fault = 'PORT, ADMIN_PORT and METRICS_PORT must differ';
    expect(() => loadConfig(ports)).toThrow(new ConfigError([fault]));
    expect(loadConfig({ PORT: '0', METRICS_PORT: '0' })).toMatchObject({ port: 0 });
  });

  it.each(['prod', 'Production', 'PRODUCTION'])(
    'does not take NODE_ENV=%s for development',
    (word) => {
      const fault = `NODE_ENV must be production, not ${word}`;
      expect(() => loadConfig({ NODE_ENV: word })).toThrow(new ConfigError([fault]));
    },
  );

  describe('.env', () => {
    const home = process.cwd();
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'petstore-env-'));
      process.chdir(directory);
    });
    afterEach(() => {
      process.chdir(home);
      delete process.env['BAN_SECONDS'];
      delete process.env['PORT'];
      rmSync(directory, { recursive: true });
    });

    it('reads .env from the working directory; the environment takes precedence', () => {
      writeFileSync('.env', 'PORT=4001\nBAN_SECONDS=7\n');
      process.env['BAN_SECONDS'] = '8';
      expect(loadConfig()).toMatchObject({ port: 4001, banSeconds: 8 });
    });

    it('reads what parseEnv() does, with a byte order mark and values of several lines', () => {
      const lines = ['\uFEFFPORT=4001', '', '# no setting', 'export BAN_SECONDS = "7" # why', ''];
      writeFileSync('.env', [...lines, "DOTENV_TEST='one", "a b = two'\r", ''].join('\n'));
      try {
        expect(loadConfig()).toMatchObject({ port: 4001, banSeconds: 7 });
        expect(process.env['DOTENV_TEST']).toBe('one\na b = two');
      } finally {
        delete process.env['DOTENV_TEST'];
      }
    });

    it('names each line that is no setting, and not its text, which may be a secret', () => {
      writeFileSync(
        '.env',
        'PORT: 4001\r\n\r\nBAN_SECONDS=7\nDATABASE_URL postgres://u:secret@h/d',
      );
      expect(() => loadConfig()).toThrow(
        new ConfigError(['.env, line 1 is not NAME=VALUE', '.env, line 4 is not NAME=VALUE']),
      );
    });

    it('rejects text after a closing quote, which parseEnv() would drop', () => {
      const lines = ["TRUST_PROXY='10.0.0.1',10.0.0.2", 'PORT="4001" # why', "BAN_SECONDS='7'0"];
      writeFileSync('.env', [...lines, "DOTENV_TEST='one", "two' LOG_LEVEL=info"].join('\n'));
      expect(() => loadConfig()).toThrow(
        new ConfigError([1, 3, 5].map((line) => `.env, line ${line} is not NAME=VALUE`)),
      );
    });

    it('stops if .env cannot be read', () => {
      writeFileSync('.env', 'PORT=4001\n', { mode: 0 });
      // Root may read every file.
      const user = process.geteuid!();
      if (user === 0) process.seteuid!(65_534);
      try {
        expect(() => loadConfig()).toThrow(/^\.env cannot be read: EACCES: .*\.env/);
      } finally {
        process.seteuid!(user);
      }
    });

    it.each([
      ['is a folder', () => mkdirSync('.env'), /^\.env cannot be read: EISDIR/],
      ['links to nothing', () => symlinkSync('none', '.env'), /^\.env cannot be read: ENOENT/],
    ])('stops if .env %s', (_what, create, fault) => {
      create();
      expect(() => loadConfig()).toThrow(fault);
    });
  });
});
