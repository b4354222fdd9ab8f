import { type DynamicModule, Module } from '@nestjs/common';
import { Logger } from './logger.js';
import { Metrics } from './metrics.js';

@Module({})
export class TelemetryModule {
  /** @param logger exists before the application, to report why it could not be created */
  static forRoot(logger: Logger): DynamicModule {
    return {
      module: TelemetryModule,
      global: true,
      providers: [{ provide: Logger, useValue: logger }, Metrics],
      exports: [Logger, Metrics],
    };
  }
}
