import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { Logger } from './logger.js';

type Export = SpanExporter['export'];

/** `ExportResultCode` of OpenTelemetry. */
const SUCCESS = 0;

/** Says once that spans are lost, and once that they are sent again; OpenTelemetry itself says nothing. */
export class ToldExporter implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Pick<Logger, 'warn' | 'info'>,
  ) {}

  export(...[spans, done]: Parameters<Export>): void {
    this.exporter.export(spans, (result) => {
      const hasFailed = Number(result.code) !== SUCCESS;
      if (hasFailed !== this.isFailing) this.tell(result.error, hasFailed);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  private tell(err: Error | undefined, hasFailed: boolean): void {
    this.isFailing = hasFailed;
    if (hasFailed) this.logger.warn({ err }, 'Spans cannot be sent and are lost');
    else this.logger.info({}, 'Spans are sent again');
  }
}
