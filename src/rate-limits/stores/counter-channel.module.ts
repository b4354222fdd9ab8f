import { type DynamicModule, Module } from '@nestjs/common';
import { CounterChannel } from './counter-channel.js';

/** The channel to who counts; undefined where this process does, or Redis. */
@Module({})
export class CounterChannelModule {
  static forRoot(channel: CounterChannel | undefined): DynamicModule {
    return {
      module: CounterChannelModule,
      global: true,
      providers: [{ provide: CounterChannel, useValue: channel }],
      exports: [CounterChannel],
    };
  }
}
