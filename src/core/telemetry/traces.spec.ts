import { createTraceState, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { SpanRedactor } from './traces.js';

describe(SpanRedactor.name, () => {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SpanRedactor(), new SimpleSpanProcessor(exporter)];
  const tracer = new NodeTracerProvider({ spanProcessors }).getTracer('test');
  beforeEach(() => exporter.reset());

  it('keeps that a span failed, and removes the message, which may quote a value', () => {
    const failed = tracer.startSpan('pg.query');
    failed.setStatus({ code: SpanStatusCode.ERROR, message: 'invalid input: "4929123412341234"' });
    failed.end();
    tracer.startSpan('pg.query').end();
    expect(exporter.getFinishedSpans().map(({ status }) => status)).toEqual([
      { code: SpanStatusCode.ERROR },
      { code: SpanStatusCode.UNSET },
    ]);
  });

  it.each([
    ['vendor=00f067aa0ba902b700f067aa0ba902b7', 'vendor=00f067aa0ba902b700f067aa0ba902b7'],
    ['x=psk_xLR7PLbIi1QyA2YBIuZ8', undefined],
    ['x=PSA_xLR7PLbIi1QyA2YBIuZ8', undefined],
    ['x=ps%6B_xLR7PLbIi1QyA2YBIuZ8', undefined],
  ])('continues a trace with tracestate %s as %s', (sent, kept) => {
    const traceState = createTraceState(sent);
    const traceId = 'a'.repeat(32);
    const parent = { traceId, spanId: 'b'.repeat(16), traceFlags: 1, traceState };
    tracer.startSpan('GET', {}, trace.setSpanContext(ROOT_CONTEXT, parent)).end();
    const [span] = exporter.getFinishedSpans();
    const context = span!.spanContext();
    expect([context.traceId, context.traceState?.serialize()]).toEqual([traceId, kept]);
  });
});
