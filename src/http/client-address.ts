import { isIP, type Socket } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { compile } from '@fastify/proxy-addr';
import proxyAddress from '@fastify/proxy-addr';
import { Config } from '../config/config.js';

type Trust = ReturnType<typeof compile>;

/** Where a request comes from: behind trusted proxies, the nearest address that is not one of them. */
@Injectable()
export class ClientAddress {
  private readonly trust: Trust | undefined;

  constructor({ trustProxy }: Config) {
    this.trust = trustProxy === false ? undefined : compile(trustProxy);
  }

  /** Of a connection, whoever is at its other end. */
  static of({ remoteAddress }: Socket): string {
    return normalizeIp(remoteAddress ?? 'unknown');
  }

  /** One IPv4 address, or the /64 of an IPv6 one: whoever has one of those has all of it. */
  of(message: IncomingMessage): string {
    const direct = message.socket.remoteAddress ?? 'unknown';
    const address = this.trust === undefined ? direct : proxyAddress(message, this.trust);
    return normalizeIp(isIP(address) === 0 ? direct : address);
  }
}
