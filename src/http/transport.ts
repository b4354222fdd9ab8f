import { AsyncResource } from 'node:async_hooks';
import { createServer, METHODS, type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyError, type FastifyInstance, type RouteHandlerMethod } from 'fastify';
import type { Config } from '../config/config.js';
import { isProbe } from '../telemetry/access-log.js';
import type { Logger } from '../telemetry/logger.js';
import { AdmissionQueue } from './admission-queue.js';
import { ClientConnections } from './client-connections.js';
import { Cors } from './cors.js';
import { acceptNamedWildcard } from './named-wildcard.js';
import { refuseMalformed, unserved } from './refusals.js';
import { bufferBody } from './request-body.js';
import { type ApiReply, type ApiRequest, requestIdOf } from './request-context.js';
import { RouteTable } from './route-table.js';
import { isApiTarget } from './target.js';

/** The target as a whole has a limit of its own, in the MessageGuard. */
const MAX_PARAMETER_LENGTH = 65_536;
const TIMEOUT_CHECK_MS = 500;
/** The route of the FallbackController. */
const FALLBACK_ROUTE = '/v1/*';

/** Fastify with the options and hooks of the service. Nest and the guards are built on it. */
export class Transport {
  readonly routes = new RouteTable();
  readonly queue = new AdmissionQueue();
  readonly connections: ClientConnections;
  readonly server: FastifyInstance;
  private readonly cors: Cors | undefined;
  private fallback: RouteHandlerMethod | undefined;
  private warnsOfProxy: boolean;

  /** @param requestHeaders request headers that extensions allow for CORS */
  constructor(config: Config, logger: Logger, requestHeaders: readonly string[] = []) {
    const { corsOrigins } = config;
    if (corsOrigins.length > 0) this.cors = new Cors(corsOrigins, this.routes, requestHeaders);
    this.connections = new ClientConnections(config.sendTimeoutSeconds * 1000);
    this.warnsOfProxy = config.trustProxy === false;
    this.server = fastify({
      logger: false,
      genReqId: requestIdOf,
      // For `@Ip()` in extensions.
      trustProxy: config.trustProxy,
      return503OnClosing: false,
      serverFactory: (handler) => this.createServer(handler, config),
      routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
      // No hook runs for these errors.
      frameworkErrors: (error, request, reply) =>
        this.begin(request, reply, () => void this.rejectUnrouted(error, request, reply)),
      clientErrorHandler: (error, socket) =>
        this.connections.reject(socket, error, () => refuseMalformed(error, socket)),
    });
    this.addHooks(logger, config.tracing !== undefined);
  }

  /** Under `/v1` the guards decide first, through the route of the FallbackController. */
  rejectUnrouted(error: Error | undefined, request: ApiRequest, reply: ApiReply): unknown {
    if (isApiTarget(request.url) && this.fallback !== undefined) {
      request.messageError = error;
      request.query ??= {};
      return this.fallback.call(this.server, request, reply);
    }
    return this.server.errorHandler(
      (error ?? unserved(request, this.routes)) as FastifyError,
      request,
      reply,
    );
  }

  private addHooks(logger: Logger, isTraced: boolean): void {
    const { server, queue } = this;
    for (const method of METHODS) {
      // Fastify parses no body: see bufferBody().
      if (method !== 'CONNECT') server.addHttpMethod(method, { overrideExisting: true });
    }
    server.decorateRequest('operation', undefined);
    server.decorateRequest('refusal', undefined);
    server.decorateRequest('messageError', undefined);
    server.addHook('onRoute', (route) => {
      acceptNamedWildcard(route);
      this.routes.add(route);
      if (route.url === FALLBACK_ROUTE) this.fallback = route.handler;
    });
    server.addHook('onRequest', (request, reply, done) => {
      if (this.warnsOfProxy) this.warnOfProxy(request, logger);
      this.begin(request, reply, () => {
        // Load balancers probe an overloaded server too.
        if (isProbe(request.raw.url!)) return done();
        const start = (): void => {
          if (!reply.raw.destroyed) done();
        };
        // The queue calls it in the context of another request, and so in its trace.
        queue.enqueue(isTraced ? AsyncResource.bind(start) : start);
      });
    });
    server.addHook('preValidation', bufferBody);
    server.addHook('onSend', (request, reply, payload, done) => {
      if (!reply.hasHeader('cache-control') && request.routeOptions.url?.startsWith('/v1')) {
        reply.header('cache-control', reply.statusCode === 200 ? 'private, no-cache' : 'no-store');
      }
      done(null, payload);
    });
  }

  private createServer(handler: RequestListener, config: Config): Server {
    const { connections, queue } = this;
    const server = createServer(
      {
        IncomingMessage: connections.messageClass(),
        headersTimeout: config.headersTimeoutSeconds * 1000,
        requestTimeout: config.requestTimeoutSeconds * 1000,
        keepAliveTimeout: config.keepAliveSeconds * 1000,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      },
      connections.limit(handler),
    );
    // Node drops fields beyond 2,000, one of which may be the key. Their total size is limited.
    server.maxHeadersCount = 0;
    server.on('connection', () => queue.connectionAccepted());
    connections.watch(server);
    return server;
  }

  private begin(request: ApiRequest, reply: ApiReply, start: () => void): void {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    // Node may lose the message behind an offer to change the protocol.
    if (this.connections.isDraining || request.raw.headers.upgrade !== undefined) {
      reply.header('connection', 'close');
    }
    if (!this.cors?.answersPreflight(request, reply)) start();
  }

  private warnOfProxy({ raw }: ApiRequest, logger: Logger): void {
    if (raw.headers['x-forwarded-for'] === undefined) return;
    this.warnsOfProxy = false;
    logger.warn(
      {},
      'X-Forwarded-For is ignored because TRUST_PROXY is off, so all clients of a proxy share one address. ' +
        'Set TRUST_PROXY to the address of the proxy',
    );
  }
}
