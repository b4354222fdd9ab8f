import { type DynamicModule, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Logger } from './logger.js';
import { Metrics, NoMetrics } from './metrics.js';
import { PrometheusMetrics } from './prometheus.metrics.js';
import { Traces } from './traces.js';

@Module({})
export class TelemetryModule {
  /** @param metrics where they are not this process' own. The logger is made before the application, to tell why one could not be made. */
  static forRoot(logger: Logger, metrics?: Metrics, traces?: Traces): DynamicModule {
    return {
      module: TelemetryModule,
      global: true,
      providers: [
        { provide: Logger, useValue: logger },
        { provide: Traces, useFactory: () => traces },
        {
          provide: Metrics,
          inject: [Config],
          useFactory: (config: Config) =>
            metrics ?? (config.metricsPort === 0 ? new NoMetrics() : PrometheusMetrics.create()),
        },
      ],
      exports: [Logger, Metrics, Traces],
    };
  }
}
