import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { currentRequest, Logger, onBehalfOf } from '../telemetry/logger.js';
import { whileTelling } from './listeners.js';

/** What happens here, by its name; each room that has something to tell adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- filled by declaration merging
export interface PetStoreEvents {}

/** Tells whoever listens by `@OnEvent` what has happened. */
@Injectable()
export class Events {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly logger: Logger,
  ) {}

  /** Whether anybody listens: what nobody does need not be made. */
  has(name: keyof PetStoreEvents): boolean {
    return this.emitter.listenerCount(name) > 0 || this.emitter.listenersAny().length > 0;
  }

  /**
   * In its own time: no handler holds up the answer, nor whoever else is told.
   * @param requestId of the request that made it happen
   */
  emit<Name extends keyof PetStoreEvents>(
    name: Name,
    event: PetStoreEvents[Name],
    requestId: string | undefined,
  ): void {
    setImmediate(() => void this.tell(name, event, requestId));
  }

  private async tell(name: string, event: unknown, id: string | undefined): Promise<void> {
    try {
      const told = { name, event, requestId: id };
      const tell = () => whileTelling(told, () => this.emitter.emitAsync(name, event));
      // Lines of a handler say for which request they are; that of a guest's operation is known already.
      await (id === undefined || currentRequest() ? tell() : onBehalfOf({ id }, tell));
    } catch (err) {
      const details = { err, requestId: id, event: name };
      this.logger.error(details, 'A handler of an event failed');
    }
  }
}
