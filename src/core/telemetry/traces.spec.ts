import { SpanStatusCode } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { MessageRemover } from './traces.js';

describe(MessageRemover.name, () => {
  it('keeps that a span failed, and removes the message, which may quote a value', () => {
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new MessageRemover(), new SimpleSpanProcessor(exporter)];
    const tracer = new NodeTracerProvider({ spanProcessors }).getTracer('pg');
    const failed = tracer.startSpan('pg.query');
    failed.setStatus({ code: SpanStatusCode.ERROR, message: 'invalid input: "4929123412341234"' });
    failed.end();
    tracer.startSpan('pg.query').end();
    expect(exporter.getFinishedSpans().map(({ status }) => status)).toEqual([
      { code: SpanStatusCode.ERROR },
      { code: SpanStatusCode.UNSET },
    ]);
  });
});
