import { METHODS, type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyInstance, LogController, type RouteHandlerMethod } from 'fastify';
import type { Config } from '../config/config.js';
import { PublicAddress } from '../config/public-address.js';
import { isProbe } from '../telemetry/is-probe.js';
import { requestContext } from '../telemetry/request-context.js';
import { AdmissionQueue } from './admission-queue.js';
import { bodyRulesOf } from './body.decorators.js';
import { ClientConnections } from './client-connections.js';
import { conditionalBody } from './conditional-response.js';
import { assertTarget, isAmbiguous, malformedError, rejectMalformed } from './malformed-message.js';
import { hasBody, readBody } from './request-body.js';
import { type ApiReply, type ApiRequest, requestIdOf } from './request.js';
import { acceptNamedWildcard, CATCH_ALL_ROUTES, RouteTable } from './route-table.js';
import { isApiTarget, routableTarget } from './target.js';

/** The guards limit the target as a whole: see `assertTarget()`. */
const MAX_PARAMETER_LENGTH = 65_536;

type StreamListener = LogController['streamError'];

/** Reports a stream that fails after the head of its response. By default, Fastify logs it. */
class FailedStreams extends LogController {
  readonly listeners: StreamListener[] = [];

  override streamError: StreamListener = (error, request, reply) => {
    // Otherwise the client has left.
    if (!reply.raw.destroyed) for (const notify of this.listeners) notify(error, request, reply);
  };
}

/** Fastify with the options and hooks of the service. Nest and the guards are built on it. */
export class Transport {
  readonly routes = new RouteTable();
  readonly queue = new AdmissionQueue();
  readonly connections: ClientConnections;
  readonly address: PublicAddress;
  readonly server: FastifyInstance;
  readonly failedStreams = new FailedStreams();
  private readonly arrivals: ((request: ApiRequest, reply: ApiReply) => void)[] = [];
  /** The handler of the CatchAllController, in the application that has one. */
  private catchAll: RouteHandlerMethod | undefined;

  constructor(private readonly config: Config) {
    const { trustProxy, sendTimeoutSeconds } = config;
    this.address = new PublicAddress(config);
    this.connections = new ClientConnections(sendTimeoutSeconds * 1000);
    this.server = fastify({
      genReqId: requestIdOf,
      trustProxy,
      logController: this.failedStreams,
      return503OnClosing: false,
      serverFactory: (handler) => this.createServer(handler),
      routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
      rewriteUrl: ({ url }) => routableTarget(url!),
      // Reached for an invalid authority only.
      frameworkErrors: (error, { raw }) => rejectMalformed(error, raw.socket),
      // The servers of `ClientConnections` have a listener.
      clientErrorHandler: () => undefined,
    });
    // Fastify would reject a body that it cannot read before the guards run.
    for (const method of METHODS) {
      if (method === 'CONNECT') continue;
      this.server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
    }
    for (const name of ['operation', 'rejection', 'bodyError'] as const) {
      this.server.decorateRequest(name, undefined);
    }
    this.addHooks();
  }

  /** Calls `listener` with each request, also one that is rejected or leaves before it starts. */
  onArrival(listener: (request: ApiRequest, reply: ApiReply) => void): void {
    this.arrivals.push(listener);
  }

  /** Under `/v1` the guards decide first, also if the router rejects an empty parameter. */
  rejectUnrouted(request: ApiRequest, reply: ApiReply): unknown {
    if (this.catchAll !== undefined && isApiTarget(request.url)) {
      return this.catchAll.call(this.server, request, reply);
    }
    assertTarget(request);
    throw this.routes.rejectionOf(request);
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
    // By default, Node drops fields beyond 2,000, such as the key. Their total size is limited.
    server.maxHeadersCount = 0;
    return server.on('connection', () => this.queue.connectionAccepted());
  }

  private addHooks(): void {
    this.server.addHook('onRoute', (route) => {
      acceptNamedWildcard(route);
      this.routes.add(route);
      if (CATCH_ALL_ROUTES.includes(route.url)) this.catchAll = route.handler;
    });
    this.server.addHook('onRequest', (request, reply, done) => {
      for (const notify of this.arrivals) notify(request, reply);
      reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
      // Node may drop a request that follows an Upgrade.
      if (request.raw.headers.upgrade !== undefined) reply.header('connection', 'close');
      if (isAmbiguous(request.raw)) {
        reply.header('connection', 'close');
        return done(malformedError(new Error('an invalid Host or Transfer-Encoding')));
      }
      requestContext.run(request, () => {
        const start = () => !reply.raw.destroyed && done();
        // Read before a middleware of an extension replaces it: see `assertTarget()`.
        this.queue.enqueue(start, isProbe(request.originalUrl));
      });
    });
    this.server.addHook('preValidation', (request, _reply, done) => {
      if (hasBody(request.raw)) void this.readBody(request, done);
      else done();
    });
    this.server.addHook('onSend', (request, reply, payload, done) => {
      if (!reply.hasHeader('cache-control') && request.routeOptions.url?.startsWith('/v1')) {
        reply.header('cache-control', reply.statusCode === 200 ? 'private, no-cache' : 'no-store');
      }
      if (this.connections.isLast(request.raw)) reply.header('connection', 'close');
      done(null, conditionalBody(request, reply, payload));
    });
  }

  private async readBody(request: ApiRequest, done: () => void): Promise<void> {
    const { raw, routeOptions } = request;
    try {
      const { bytes } = bodyRulesOf(routeOptions.config);
      request.rawBody = await readBody(raw, this.connections.failureOf(raw), bytes);
    } catch (error) {
      request.bodyError = error as Error;
    }
    // If the client is gone, the request ends here.
    if (!raw.socket.destroyed) done();
  }
}
