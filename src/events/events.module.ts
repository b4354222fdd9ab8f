import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Events } from './events.js';
import { Listeners } from './listeners.js';

@Global()
@Module({
  // `pet.*`, as in Nest's documentation.
  imports: [EventEmitterModule.forRoot({ wildcard: true }), DiscoveryModule],
  providers: [Events, Listeners],
  exports: [Events],
})
export class EventsModule {}
