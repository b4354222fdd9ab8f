/** The fix by the cause; the first that matches. */
const FIXES: readonly [cause: RegExp, fix: string][] = [
  [
    /NOPERM|o permission/i,
    'grant the rights that docs/operating.md lists to the user in REDIS_URL',
  ],
  [/WRONGPASS|NOAUTH|invalid password/i, 'correct the user or password in REDIS_URL'],
  [/wrong version|packet length|no TLS/i, 'use redis:// in REDIS_URL, or the TLS port of Redis'],
  [/self.signed|unable to (?:get|verify)/i, 'set NODE_EXTRA_CA_CERTS to the CA file of Redis'],
  [/has expired|altnames/, 'renew the certificate, or use its host name in REDIS_URL'],
  [/MOVED/, 'add ?cluster=true to REDIS_URL: this is a Redis Cluster'],
  [/cluster support disabled/i, 'specify one address in REDIS_URL: Redis is not in cluster mode'],
  [/unknown command/i, 'point REDIS_URL at a Redis server, not a Sentinel'],
  [/LOADING/, 'wait until Redis has loaded its data'],
  [/OOM/, 'raise maxmemory of Redis'],
  [/READONLY/, 'point REDIS_URL at the primary, not a replica'],
];
const FIX_OF_OTHERS = 'check REDIS_URL, and that Redis runs and can be reached from this machine';

/** Redis cannot be used. The message names host, port, cause and fix in one line. */
export class RedisUnavailableError extends Error {
  readonly reason: string;
  readonly fix: string;

  /**
   * @param url whose credentials are not part of the message
   * @param cause the message of ioredis or Redis
   */
  constructor(url: string, cause: string) {
    const { host, protocol } = new URL(url);
    const reason = reasonOf(cause, protocol);
    const fix = FIXES.find(([pattern]) => pattern.test(reason))?.[1] ?? FIX_OF_OTHERS;
    super(`Redis at ${host}: ${reason}; ${fix}`);
    this.reason = reason;
    this.fix = fix;
    // The stack of whichever request hit it is misleading.
    delete this.stack;
  }
}

function reasonOf(cause: string, protocol: string): string {
  if (/isn't writeable|Connection is closed/.test(cause)) return 'not connected';
  // Redis without TLS waits for the rest of the handshake, which it takes for a command.
  if (protocol === 'rediss:' && cause === 'connect ETIMEDOUT') {
    return `${cause} (it may have no TLS)`;
  }
  // Without OpenSSL's error code and source file.
  return /SSL routines:[^:]*:([^:]+)/.exec(cause)?.[1] ?? cause;
}
