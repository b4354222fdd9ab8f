import type { Pet } from './pet.entity.js';

/** What has become of an animal, once that is committed, on the node that did it. */
export interface PetEvent {
  pet: Pet;
  /** Who asked for it; undefined where no request did. */
  clientId: string | undefined;
  requestId: string | undefined;
  at: Date;
}

declare module '../events/events.js' {
  interface PetStoreEvents {
    'pet.created': PetEvent;
    'pet.status_changed': PetEvent;
  }
}
