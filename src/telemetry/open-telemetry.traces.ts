import { FastifyOtelInstrumentation } from '@fastify/otel';
import type { OnApplicationShutdown } from '@nestjs/common';
import {
  type Attributes,
  context,
  type Context,
  propagation,
  SpanKind,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import type { FastifyInstance } from 'fastify';
import type { Tracing } from '../config/config.js';
import { VERSION } from '../config/version.js';
import { atMost } from '../time/within.js';
import { isProbe, type Logger } from './logger.js';
import { ToldExporter } from './told-exporter.js';
import { type Traced, Traces } from './traces.js';

const SERVICE = 'pet-store-service';
/** Of a collector that does not answer, no more is waited for when the service stops. */
const FAREWELL_MS = 1_000;

/** Without the query, which it would have too; who sends a key in the wrong place does not find it here. */
function pathOf(url: string): string {
  return url.replace(/\?.*$/s, '').replace(/psk_\w+/g, 'psk_...');
}

async function exporterOf({ protocol }: Tracing): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** OpenTelemetry, set up by its own variables; requests by Fastify's instrumentation of itself. */
export class OpenTelemetryTraces extends Traces implements OnApplicationShutdown {
  private readonly tracer: Tracer;

  private constructor(private readonly provider: NodeTracerProvider) {
    super();
    this.tracer = provider.getTracer(SERVICE, VERSION);
  }

  static async open(tracing: Tracing, logger: Logger): Promise<OpenTelemetryTraces> {
    // The SDK reads the environment by itself, and knows of no `.env` file.
    for (const [name, value] of Object.entries(tracing.variables)) process.env[name] ??= value;
    const ours = resourceFromAttributes({ 'service.name': SERVICE, 'service.version': VERSION });
    const theirs = detectResources({ detectors: [envDetector] });
    const provider = new NodeTracerProvider({
      resource: defaultResource().merge(ours).merge(theirs),
      spanProcessors: [new BatchSpanProcessor(new ToldExporter(await exporterOf(tracing), logger))],
    });
    provider.register();
    return new OpenTelemetryTraces(provider);
  }

  follow(server: FastifyInstance): void {
    const instrumentation = new FastifyOtelInstrumentation({
      // One span for a request: its steps are ours, and in microseconds.
      instrumentHooks: false,
      instrumentHandler: false,
      ignorePaths: ({ url }) => isProbe(url),
      requestHook: (span, { method, routeOptions, url }) => {
        span.updateName(routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`);
        span.setAttribute('url.path', pathOf(url));
      },
    });
    instrumentation.setTracerProvider(this.provider);
    const notFound = Object.getOwnPropertyDescriptor(server, 'setNotFoundHandler')!;
    // As it does by itself where it is registered on initialization: at once, before every other hook.
    instrumentation.plugin()(server, {}, () => undefined);
    // It would have a span of its own.
    Object.defineProperty(server, 'setNotFoundHandler', notFound);
  }

  here(): Context {
    return context.active();
  }

  tell(name: string, startTime: number, attributes: Attributes, within = context.active()): void {
    if (trace.getSpan(within) === undefined) return;
    const options = { kind: SpanKind.CLIENT, startTime, attributes };
    this.tracer.startSpan(name, options, within).end(performance.now());
  }

  traceIdOf(request: Traced): string | undefined {
    const known = request.opentelemetry?.().context;
    return known ? trace.getSpanContext(known)?.traceId : undefined;
  }

  async onApplicationShutdown(): Promise<void> {
    const farewell = this.provider.shutdown().catch(() => undefined);
    await atMost(FAREWELL_MS, farewell);
    for (const api of [trace, context, propagation]) api.disable();
  }
}
