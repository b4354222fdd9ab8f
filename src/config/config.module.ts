import { type DynamicModule, Module } from '@nestjs/common';
import { Clock, SystemClock } from './clock.js';
import { Config } from './config.js';

@Module({})
export class ConfigModule {
  static forRoot(config: Config, clock: Clock = new SystemClock()): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: Config, useValue: config },
        { provide: Clock, useValue: clock },
      ],
      exports: [Config, Clock],
    };
  }
}
