import { fixOf, UnusableError } from '../errors/fixes.js';

/**
 * An error that has host, port, cause and fix in one line.
 * @param url whose credentials are not part of the message
 * @param cause the message of ioredis or Redis
 */
export function redisError(url: string, cause: string): UnusableError {
  const { host, protocol } = new URL(url);
  const reason = reasonOf(cause, protocol);
  return new UnusableError(`Redis at ${host}: ${reason}`, fixOf('redis', reason)!);
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
