import { FastifyAdapter as NestFastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { stringifyJson } from './stringify-json.js';
import type { Transport } from './transport.js';

/**
 * Nest's adapter on the transport of the service. Responses have every digit of an int64.
 * Libraries recognise the platform by the name of this class.
 */
export class FastifyAdapter extends NestFastifyAdapter {
  constructor(private readonly transport: Transport) {
    super(transport.server);
    transport.server.setReplySerializer(stringifyJson);
  }

  override setNotFoundHandler(): FastifyInstance {
    return this.transport.server.setNotFoundHandler((request, reply) =>
      this.transport.rejectUnrouted(request, reply),
    );
  }
}
