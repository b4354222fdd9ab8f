import { existsSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { compile } from '@fastify/proxy-addr';

/** In a list, a comma or white space separates entries. */
const SEPARATOR = /[\s,]+/;
const PASSWORD = 'in the password, write # as %23, / as %2F, ? as %3F, % as %25, a space as %20';
const DATABASE_URLS = `must be sqlite:PATH, without // and parameters, \
or postgres://USER:PASSWORD@HOST:PORT/DATABASE; ${PASSWORD}`;
const REDIS_URLS = `must be redis://HOST:PORT or rediss://HOST:PORT, without a path or with \
a number, or several separated by commas; ${PASSWORD}`;
/** Parameters of libpq that node-postgres knows, or that providers add to every URL. */
const POSTGRES_PARAMETERS = `host port user password dbname application_name client_encoding \
connect_timeout channel_binding fallback_application_name keepalives options ssl sslmode sslcert \
sslkey sslrootcert sslnegotiation target_session_attrs uselibpqcompat`.split(' ');
const SSL_MODES = /^(?:disable|allow|prefer|require|verify-ca|verify-full|no-verify)$/;

export function entriesOf(text: string): string[] {
  return text.split(SEPARATOR);
}

/** A URL of PostgreSQL that `URL` can parse: the driver accepts one without a host as well. */
export function withHost(url: string): string {
  return url.replace('@/', '@localhost/');
}

/** @returns the reason why the service cannot use this `DATABASE_URL` */
export function databaseFault(url: string): string | undefined {
  if (isSqliteUrl(url)) return pathFault(url.slice('sqlite:'.length));
  if (!isPostgresUrl(withHost(url))) return DATABASE_URLS;
  const { searchParams } = new URL(withHost(url));
  const unknown = [...searchParams.keys()].find((name) => !POSTGRES_PARAMETERS.includes(name));
  if (unknown !== undefined) return `has the unknown parameter ${unknown}`;
  const mode = searchParams.get('sslmode') ?? 'disable';
  return SSL_MODES.test(mode) ? undefined : `has the unknown sslmode ${mode}`;
}

/** The path is taken as written. */
function pathFault(path: string): string | undefined {
  if (path.endsWith('/') || existsSync(`${path}/`)) {
    return `must have the path of a file, but ${path} is a folder`;
  }
  // SQLite would wait for the writer of a named pipe.
  if (existsSync(path) && !statSync(path).isFile()) {
    return `must have the path of a file, but ${path} is a device, pipe or socket`;
  }
  const [character] = /^~|[%$]/.exec(path) ?? [];
  return character && `takes the path as written, so it must not contain ${character}: ${path}`;
}

/** @returns the reason why the service cannot use this `REDIS_URL`, one URL or several */
export function redisFault(text: string): string | undefined {
  const urls = entriesOf(text);
  if (!urls.every(isRedisUrl)) return REDIS_URLS;
  const parsed = urls.map((url) => new URL(url));
  for (const [name, value] of parsed.flatMap(({ searchParams }) => [...searchParams])) {
    const allowed = { cluster: /^(?:true|false)$/, family: /^[046]$/ }[name];
    if (allowed === undefined) return `has the unknown parameter ${name}`;
    if (!allowed.test(value)) return `has a ${name} that must match ${allowed.source}`;
  }
  const isCluster = urls.length > 1 || parsed[0]!.searchParams.get('cluster') === 'true';
  if (!isCluster || parsed.every(({ pathname }) => /^\/?0*$/.test(pathname))) return undefined;
  return 'must not have the number of a database: a Redis Cluster has only database 0';
}

const isUrl = (form: RegExp) => (text: string) =>
  form.test(text) && URL.canParse(text) && isEncoded(text);
export const isBaseUrl = isUrl(/^(?:https?|HTTPS?):\/\/[^@?#]+\/v1\/*$/);
export const isHttpUrl = isUrl(/^https?:\/\/[^/]/i);
export const isContact = isUrl(/^(?:mailto:[^@\s]+@|https:\/\/)[^@\s]+$/);
const isSqliteUrl = (text: string) => /^sqlite:(?!:memory:|file:|\/\/)[^?]+$/.test(text);
// An `@` behind `/` or `?` means that the password has one of them. If a URL contains a space, pg
// encodes it again.
const isPostgresUrl = isUrl(/^postgres(?:ql)?:\/\/[^#/?\s]*(?:[/?][^#@]*)?$/);
const isOriginUrl = isUrl(/^https?:\/\/[^*]+$/);
const isRedisUrl = isUrl(/^rediss?:\/\/[^/?#]+(?:\/\d*)?(?:\?[^@]*)?$/);

/** Drivers decode the user and the password. */
function isEncoded(url: string): boolean {
  try {
    return !decodeURIComponent(url).includes('\0');
  } catch {
    return false;
  }
}

/** Without a trailing slash, and encoded as header fields require. */
export function normalBaseUrl(url: string): string {
  return isBaseUrl(url) ? new URL(url).href.replace(/\/+$/, '') : url;
}

/** Whether a browser can send this as the `Origin` header: in this form, and without a wildcard. */
export function isOrigin(text: string): boolean {
  return isOriginUrl(text) && new URL(text).origin === text;
}

export function isAddressOrRange(text: string): boolean {
  try {
    // `compile` accepts names, such as loopback, and plain integers as well.
    return isIP(text.split('/')[0]!) !== 0 && Boolean(compile(text));
  } catch {
    return false;
  }
}
