import { isIP } from 'node:net';
import type { IncomingMessage, Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import proxyAddress, { compile } from '@fastify/proxy-addr';
import { Config } from '../config/config.js';
import type { Logger } from '../telemetry/logger.js';

type Trust = ReturnType<typeof compile>;

/** Some proxies append the port of the client: `203.0.113.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/i;

/** The address of a caller: behind trusted proxies, the nearest address that is not one of them. */
@Injectable()
export class ClientAddress {
  private readonly trust: Trust | undefined;

  constructor({ trustProxy }: Config) {
    if (trustProxy === false) return;
    const trust = compile(trustProxy);
    this.trust = (address, hop) => trust(withoutPort(address), hop);
  }

  /** @returns an IPv4 address, or the /64 of an IPv6 address, since a client usually controls all of it */
  of(message: IncomingMessage): string {
    const direct = message.socket.remoteAddress ?? 'unknown';
    const address =
      this.trust === undefined ? direct : withoutPort(proxyAddress(message, this.trust));
    return normalizeIp(isIP(address) === 0 ? direct : address);
  }
}

function withoutPort(address: string): string {
  const [, bracketed, plain] = WITH_PORT.exec(address) ?? [];
  return bracketed ?? plain ?? address;
}

/** Warns once if `X-Forwarded-For` arrives although no proxy is trusted. */
export function warnOfProxy(server: Server, logger: Logger): void {
  const warn = ({ headers }: IncomingMessage): void => {
    if (headers['x-forwarded-for'] === undefined) return;
    server.off('request', warn);
    logger.warn(
      {},
      'X-Forwarded-For is ignored because TRUST_PROXY is off, so all clients of a proxy share one address. ' +
        'Set TRUST_PROXY to the address of the proxy',
    );
  };
  server.on('request', warn);
}
