import { AsyncResource } from 'node:async_hooks';
import { METHODS, type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyError, type FastifyInstance, type RouteHandlerMethod } from 'fastify';
import type { Config } from '../config/config.js';
import { isProbe } from '../telemetry/access-log.js';
import type { Logger } from '../telemetry/logger.js';
import { requestContext } from '../telemetry/request-context.js';
import { AdmissionQueue } from './admission-queue.js';
import { warnOfProxy } from './client-address.js';
import { ClientConnections } from './client-connections.js';
import { acceptNamedWildcard } from './named-wildcard.js';
import { bodyError, malformedError, MAX_BODY_BYTES, TOO_LARGE } from './malformed-message.js';
import { type ApiReply, type ApiRequest, requestIdOf } from './request-context.js';
import { FALLBACK_ROUTES, RouteTable } from './route-table.js';
import { isApiTarget } from './target.js';

/** The guards limit the target as a whole: see `assertWellFormed()`. */
const MAX_PARAMETER_LENGTH = 65_536;

/** Fastify with the options and hooks of the service. Nest and the guards are built on it. */
export class Transport {
  readonly routes = new RouteTable();
  readonly queue = new AdmissionQueue();
  readonly connections: ClientConnections;
  readonly server: FastifyInstance;
  private fallback: RouteHandlerMethod | undefined;

  constructor(
    private readonly config: Config,
    logger: Logger,
  ) {
    const { trustProxy, sendTimeoutSeconds } = config;
    this.connections = new ClientConnections(sendTimeoutSeconds * 1000);
    this.server = fastify({
      genReqId: requestIdOf,
      trustProxy,
      return503OnClosing: false,
      bodyLimit: MAX_BODY_BYTES,
      serverFactory: (handler) => this.createServer(handler),
      routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
      // The router could not decode the target. Fastify runs no hook, so route the request to a
      // path of the service.
      frameworkErrors: (_error, { raw }, reply) => {
        Object.assign(raw, {
          originalUrl: raw.url,
          url: isApiTarget(raw.url!) ? '/v1/' : '/docs/-',
        });
        this.server.routing(raw, reply.raw);
      },
      clientErrorHandler: (error, socket) => this.connections.reject(error, socket),
    });
    for (const method of METHODS) {
      if (method === 'CONNECT' || this.server.supportedMethods.includes(method)) continue;
      this.server.addHttpMethod(method, { hasBody: true });
    }
    // The body is only buffered: the guards decide first.
    this.server.removeAllContentTypeParsers();
    const types = ['application/json', '*'];
    this.server.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    for (const name of ['operation', 'refusal', 'messageError'] as const) {
      this.server.decorateRequest(name, undefined);
    }
    this.addHooks();
    if (trustProxy === false) warnOfProxy(this.server.server, logger);
  }

  /** Under `/v1` the guards decide first, through the route of the FallbackController. */
  rejectUnrouted(request: ApiRequest, reply: ApiReply): unknown {
    if (isApiTarget(request.url)) return this.fallback!.call(this.server, request, reply);
    const error = request.messageError ?? this.routes.refusalOf(request);
    return this.server.errorHandler(error as FastifyError, request, reply);
  }

  private createServer(handler: RequestListener): Server {
    const options = {
      headersTimeout: this.config.headersTimeoutSeconds * 1000,
      requestTimeout: this.config.requestTimeoutSeconds * 1000,
      keepAliveTimeout: this.config.keepAliveSeconds * 1000,
      connectionsCheckingInterval: 500,
      // Two `Authorization` headers are an invalid key. By default, Node ignores the second.
      joinDuplicateHeaders: true,
    };
    const server = this.connections.createServer(options, handler);
    // Node drops fields beyond 2,000, one of which may be the key. Their total size is limited.
    server.maxHeadersCount = 0;
    return server.on('connection', () => this.queue.connectionAccepted());
  }

  private addHooks(): void {
    this.server.addHook('onRoute', (route) => {
      acceptNamedWildcard(route);
      this.routes.add(route);
      const isFallback = FALLBACK_ROUTES.includes(route.url);
      if (isFallback) this.fallback = route.handler;
      route.errorHandler = (error: FastifyError, request, reply) => {
        // The guards have run.
        if (request.operation !== undefined) throw error;
        // The client is gone.
        if (request.raw.socket.destroyed) return;
        // An unknown path or a wrong method takes precedence.
        if (!isFallback) request.messageError = bodyError(error);
        // Node skips the rest of a large body, so the connection may stay open.
        if (error.code === TOO_LARGE) this.begin(request, reply.removeHeader('connection'));
        // Events of the body arrive outside the context of the request.
        return requestContext.run(request, () => route.handler.call(this.server, request, reply));
      };
    });
    this.server.addHook('onRequest', (request, reply, done) => {
      this.begin(request, reply);
      // Only `frameworkErrors` changes the URL.
      const isUndecodable = request.originalUrl !== request.url;
      if (isUndecodable) request.messageError = malformedError(new URIError());
      const start = (): void => {
        if (!reply.raw.destroyed) requestContext.run(request, done);
      };
      // Load balancers probe an overloaded server too.
      if (isProbe(request.raw.url!)) return start();
      // The queue calls it in the context of another request, and so in its trace.
      this.queue.enqueue(this.config.tracing ? AsyncResource.bind(start) : start);
    });
    // Events of the body arrive outside the context of the request.
    this.server.addHook('preValidation', (request, _reply, done) => {
      if (requestContext.getStore() === request) done();
      else requestContext.run(request, done);
    });
    this.server.addHook('onSend', (request, reply, payload, done) => {
      if (!reply.hasHeader('cache-control') && request.routeOptions.url?.startsWith('/v1')) {
        reply.header('cache-control', reply.statusCode === 200 ? 'private, no-cache' : 'no-store');
      }
      if (this.connections.isLast(request.raw)) reply.header('connection', 'close');
      done(null, payload);
    });
  }

  /** Headers of every response. */
  private begin(request: ApiRequest, reply: ApiReply): void {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    // Node may lose the message behind an offer to change the protocol.
    if (request.raw.headers.upgrade !== undefined) reply.header('connection', 'close');
  }
}
