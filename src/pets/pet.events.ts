import type { Pet } from './pet.entity.js';

/** A committed change of a pet, emitted on the node that made it. */
export interface PetEvent {
  pet: Pet;
  /** Undefined if no request caused the change. */
  clientId: string | undefined;
  requestId: string | undefined;
  at: Date;
}
