import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Logger } from '../telemetry/logger.js';

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

  /** In its own time: no handler holds up the answer, nor whoever else is told. */
  emit<Name extends keyof PetStoreEvents>(name: Name, event: PetStoreEvents[Name]): void {
    setImmediate(() => void this.tell(name, event));
  }

  private async tell(name: string, event: unknown): Promise<void> {
    try {
      await this.emitter.emitAsync(name, event);
    } catch (err) {
      this.logger.error({ err, event: name }, 'A handler of an event failed');
    }
  }
}
