import { AsyncResource } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { FastifyOtelInstrumentation } from '@fastify/otel';
import { diag, type DiagLogger, DiagLogLevel } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  NoopSpanProcessor,
  type Span,
} from '@opentelemetry/sdk-trace-node';
import { VERSION } from '../config/version.js';
import { waitAtMost } from '../time/timeout.js';
import { isProbe } from './is-probe.js';
import type { Logger } from './logger.js';

/** How long the end of the process waits for the collector. */
const SHUTDOWN_MS = 1_000;
/** A prefix, an escape that can hide one, or more random characters than an id has. */
const MAY_HOLD_KEY = /ps[ka]_|%|[0-9A-Za-z]{20}/i;
const require = createRequire(import.meta.url);

/**
 * Starts OpenTelemetry with the official instrumentations of Fastify, pg and ioredis. To be called
 * before the server is created. Statements and commands have a span only if they serve a request.
 * @param protocol `http/protobuf` or `http/json`
 * @returns a function that sends the remaining spans
 */
export function startTracing(protocol: string, logger: Logger): () => Promise<void> {
  // A warning concerns a batch, and is sent in the context of one of its requests.
  const warn = AsyncResource.bind((...texts: string[]) =>
    logger.warn({ context: 'OpenTelemetry', reason: reasonOf(texts) }, 'Spans may be lost'),
  );
  diag.setLogger({ error: warn, warn } as DiagLogger, DiagLogLevel.WARN);
  const service = { 'service.name': 'pet-store-service', 'service.version': VERSION };
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(service))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new SpanRedactor(), new BatchSpanProcessor(exporter)],
  });
  provider.register();
  const instrumentations = [
    instrumentFastify(),
    new PgInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
    new IORedisInstrumentation({ requireParentSpan: true }),
  ];
  for (const each of instrumentations) each.setTracerProvider(provider);
  // They patch what is loaded by require(), in place: imports share it.
  for (const library of ['pg', 'ioredis']) require(library);
  return () => waitAtMost(SHUTDOWN_MS, provider.shutdown()).catch(() => undefined);
}

/**
 * Leaves out the text of the collector's response, which may echo a header. OpenTelemetry passes an
 * error as JSON text, and before other warnings the name of a component.
 */
function reasonOf(texts: string[]): string | undefined {
  const reason = texts.find((text) => / /.test(text)) ?? '';
  if (!reason.startsWith('{')) return reason.replace(/(?<=response):.*/s, '');
  const { name, code, message } = JSON.parse(reason) as Partial<NodeJS.ErrnoException>;
  if (name !== 'OTLPExporterError') return message ?? code;
  return `HTTP ${code ?? '429, 502, 503 or 504'}`;
}

/** Removes what may hold a secret or a value of a caller. */
export class SpanRedactor extends NoopSpanProcessor {
  override onStart(span: Span): void {
    const context = span.spanContext();
    if (/ps[ka]_|%/i.test(context.traceState?.serialize() ?? '')) delete context.traceState;
  }

  /** PostgreSQL quotes a value in some messages, which pg's instrumentation makes the status. */
  onEnding(span: Span): void {
    span.setStatus({ code: span.status.code });
  }
}

/** One span for a request: its hooks and its handler take microseconds. */
function instrumentFastify(): FastifyOtelInstrumentation {
  return new FastifyOtelInstrumentation({
    registerOnInitialization: true,
    instrumentHooks: false,
    instrumentHandler: false,
    ignorePaths: ({ url }) => isProbe(url),
    requestHook: (span, request) => {
      const { method, routeOptions, url } = request;
      request.traceId = span.spanContext().traceId;
      span.updateName(routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`);
      const path = url.replace(/\?.*$/s, '');
      // A key that was sent in the wrong place: the pattern of the route replaces the path.
      span.setAttribute('url.path', MAY_HOLD_KEY.test(path) ? (routeOptions.url ?? '') : path);
    },
  });
}
