import { Global, Injectable, Module } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { Logger } from '../telemetry/logger.js';
import { requestContext } from '../telemetry/request-context.js';

/** The events by name; each module adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- filled by declaration merging
export interface PetStoreEvents {}

/** Calls the handlers of `@OnEvent`. Nest's event emitter logs a handler that throws. */
@Injectable()
export class Events {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly logger: Logger,
  ) {}

  /** Whether the event has a handler; if not, the caller need not create the event. */
  has(name: keyof PetStoreEvents): boolean {
    return this.emitter.listenerCount(name) > 0 || this.emitter.listenersAny().length > 0;
  }

  /**
   * Emits an event in a later tick, so that no handler delays the response.
   * @param id of the request that caused the event, for the log lines of the handlers
   */
  emit<Name extends keyof PetStoreEvents>(
    name: Name,
    event: PetStoreEvents[Name],
    id: string | undefined,
  ): void {
    const emit = async (): Promise<void> => void (await this.emitter.emitAsync(name, event));
    // Fails for a handler with `suppressErrors: false`, or a listener that was added to the emitter
    // itself.
    const log = (err: unknown): void =>
      this.logger.error({ err, event: name }, 'An event handler failed');
    const run = id === undefined ? emit : () => requestContext.run({ id }, emit);
    setImmediate(() => void run().catch(log));
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
