import { type DynamicModule, Module } from '@nestjs/common';
import { Clock } from './clock.js';

@Module({})
export class TimeModule {
  static forRoot(clock: Clock = new Clock()): DynamicModule {
    return {
      module: TimeModule,
      global: true,
      providers: [{ provide: Clock, useValue: clock }],
      exports: [Clock],
    };
  }
}
