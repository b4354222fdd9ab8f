import { Global, Injectable, Module } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { Logger } from '../telemetry/logger.js';

/** Calls the handlers of `@OnEvent`. Nest's event emitter logs a handler that throws. */
@Injectable()
export class Events {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly logger: Logger,
  ) {}

  /** Whether an event has a handler; if not, the caller need not create it. */
  has(name: string): boolean {
    return this.emitter.listenerCount(name) > 0;
  }

  /** Emits an event in a later tick, so that no handler delays the response. */
  emit(name: string, event: object): void {
    const emit = async () => void (await this.emitter.emitAsync(name, event));
    // Fails for a handler with `suppressErrors: false`, or a listener that was added to the emitter
    // itself.
    const log = (err: unknown) =>
      this.logger.error({ err, event: name }, 'An event handler failed');
    setImmediate(() => void emit().catch(log));
  }
}

@Global()
@Module({
  // Allows `@OnEvent('pet.*')`.
  imports: [EventEmitterModule.forRoot({ wildcard: true })],
  providers: [Events],
  exports: [Events],
})
export class EventsModule {}
