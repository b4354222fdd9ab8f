import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import { ToldExporter } from './told-exporter.js';

describe(ToldExporter.name, () => {
  it('says once when spans begin to be lost, and once when that is over', () => {
    const down = { code: 1, error: new Error('nobody listens') };
    const results = [{ code: 0 }, down, down, { code: 0 }, { code: 0 }, down];
    const exporter = { export: jest.fn((_spans, done) => done(results.shift())) };
    const logger = { warn: jest.fn(), info: jest.fn() };
    const told = new ToldExporter(exporter as unknown as SpanExporter, logger);
    const done = jest.fn();
    while (results.length > 0) told.export([], done);
    expect(done.mock.calls.map(([{ code }]) => code)).toEqual([0, 1, 1, 0, 0, 1]);
    expect(logger.warn.mock.calls).toEqual([
      [{ err: down.error }, 'Spans cannot be sent and are lost'],
      [{ err: down.error }, 'Spans cannot be sent and are lost'],
    ]);
    expect(logger.info.mock.calls).toEqual([[{}, 'Spans are sent again']]);
  });
});
