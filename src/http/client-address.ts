import { isIP, type Socket } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { compile } from '@fastify/proxy-addr';
import proxyAddress from '@fastify/proxy-addr';
import { Config } from '../config/config.js';

type Trust = ReturnType<typeof compile>;

/** As some proxies name a client: `203.0.113.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/i;

/** Where a request comes from: behind trusted proxies, the nearest address that is not one of them. */
@Injectable()
export class ClientAddress {
  private readonly trust: Trust | undefined;

  constructor({ trustProxy }: Config) {
    if (trustProxy === false) return;
    const trust = compile(trustProxy);
    this.trust = (address, hop) => trust(withoutPort(address), hop);
  }

  /** Of a connection, whoever is at its other end. */
  static of({ remoteAddress }: Socket): string {
    return normalizeIp(remoteAddress ?? 'unknown');
  }

  /** One IPv4 address, or the /64 of an IPv6 one: whoever has one of those has all of it. */
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
