import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Config } from '../core/config/config.js';
import { AccessLog } from '../core/http/access-log.js';
import { FastifyAdapter } from '../core/http/fastify.adapter.js';
import { Transport } from '../core/http/transport.js';
import { DocumentSource } from '../docs/document.js';
import { ADMIN_API } from './admin-document.js';
import { AdminModule } from './admin.module.js';

/**
 * Assembles the admin API: a second Nest application with a server for ADMIN_PORT. It uses
 * providers of the running service, and none of its extensions.
 */
export async function createAdminApp(
  service: INestApplicationContext,
): Promise<NestFastifyApplication> {
  const transport = new Transport(service.get(Config));
  service.get(AccessLog).watch(transport);
  transport.server.addHook('onSend', (_request, reply, payload, done) => {
    reply.header('cache-control', 'no-store');
    done(null, payload);
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    AdminModule.forRoot(transport, service),
    new FastifyAdapter(transport),
    { bodyParser: false, abortOnError: false },
  );
  app.get(DocumentSource).describes(app, ADMIN_API);
  return app;
}
