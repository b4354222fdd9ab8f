import { Global, Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Events } from './events.js';

@Global()
@Module({
  // Allows `@OnEvent('pet.*')`.
  imports: [EventEmitterModule.forRoot({ wildcard: true })],
  providers: [Events],
  exports: [Events],
})
export class EventsModule {}
