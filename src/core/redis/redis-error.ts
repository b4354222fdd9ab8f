import { ExplainedError, fixOf } from '../config/fixes.js';

/** Redis cannot be used. The message has host, port, cause and fix in one line. */
export class RedisUnavailableError extends ExplainedError {
  /**
   * @param url whose credentials are not part of the message
   * @param cause an error of ioredis or Redis
   */
  constructor(url: string, { name, message }: Error) {
    const { host, protocol } = new URL(url);
    const cause = causeOf(message, protocol);
    super(`Redis at ${host} cannot be used: ${cause}`, fixOf('redis', { name, message: cause })!);
    // The stack of the request that noticed the failure would be misleading.
    delete this.stack;
  }
}

function causeOf(message: string, protocol: string): string {
  if (
    /isn't writeable|Connection is closed|max retries per request|^Protocol error/.test(message)
  ) {
    return 'not connected; it may hang, be at its maxclients, be no Redis, or expect rediss://';
  }
  // Redis without TLS waits for the rest of the handshake, which it takes for a command.
  if (protocol === 'rediss:' && message === 'connect ETIMEDOUT') {
    return `${message} (it may have no TLS)`;
  }
  // Without OpenSSL's error code and source file.
  return /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;
}
