import type { EntityManager } from 'typeorm';

/** A pet as other extensions know it. The pets of a store may have more members. */
export interface StoredPet {
  id: bigint;
  name: string;
  categoryId: bigint;
  /** Null if the pet has none. */
  status: 'available' | 'pending' | 'sold' | null;
}

/**
 * The pets of the store, for other extensions. The extension with the name `pets` provides this
 * class: `{ provide: Pets, useExisting: PetsService }` in a global module.
 */
export abstract class Pets {
  /** Reads a pet. */
  abstract find(id: bigint): Promise<StoredPet | undefined>;

  /**
   * Reads a pet and locks it until the transaction of `manager` ends.
   * @throws {Error} outside a transaction
   */
  abstract lock(id: bigint, manager: EntityManager): Promise<StoredPet | undefined>;

  /**
   * Sets the status of a pet in the transaction of `manager`.
   * @throws {ApiError} 404 `pet_not_found`
   * @throws {Error} outside a transaction
   */
  abstract setStatus(
    id: bigint,
    status: StoredPet['status'],
    manager: EntityManager,
  ): Promise<void>;
}
