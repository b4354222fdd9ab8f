import { Injectable } from '@nestjs/common';
import {
  afterCommit,
  type Caller,
  Clock,
  errors,
  Events,
  Pet,
  type PetEvent,
  requestContext,
  rowLock,
} from 'pet-store-service';
import { DataSource, type EntityManager, In } from 'typeorm';
import type { NewOrder } from './order.dto.js';
import { Order } from './order.entity.js';
import { orderErrors } from './order.errors.js';
import { OrderMetrics } from './order.metrics.js';

/**
 * Orders many pets in one transaction, all or none. `Pets` changes one pet at a time, which takes
 * too long for many: a transaction may be open for 3 seconds. So a few statements change many
 * rows of the table of pets. They know no tenants: if your pets have some, add them to `where`.
 */
@Injectable()
export class BulkOrdersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly metrics: OrderMetrics,
    private readonly events: Events,
  ) {}

  /** @returns the IDs of the orders, in the order of the lines */
  async place(lines: readonly NewOrder[], { clientId }: Caller): Promise<bigint[]> {
    const petIds = lines.map(({ petId }) => petId);
    if (new Set(petIds).size < lines.length) {
      throw orderErrors.pet_not_available('A pet appears more than once in lines');
    }
    const orders = await this.dataSource.transaction(async (manager) => {
      const pets = await this.reserve(petIds, manager);
      this.announce(pets, clientId, manager);
      return this.insert(pets, clientId, manager);
    });
    this.metrics.count('placed', lines.length);
    const orderIds = new Map(orders.map(({ id, petId }) => [petId, id]));
    return petIds.map((petId) => orderIds.get(petId)!);
  }

  private async reserve(ids: bigint[], manager: EntityManager): Promise<Pet[]> {
    const pets = await manager.find(Pet, {
      where: { id: In(ids) },
      // So that two transactions that lock the same pets cannot deadlock.
      order: { id: 'ASC' },
      ...rowLock(manager),
    });
    if (pets.length < ids.length) {
      const missing = ids.find((id) => pets.every((pet) => pet.id !== id));
      throw errors.pet_not_found(`There is no pet ${missing}`);
    }
    for (const { id, status } of pets) {
      if (status === 'available') continue;
      throw orderErrors.pet_not_available(`The pet ${id} is ${status ?? 'not for sale'}`);
    }
    await manager.update(Pet, { id: In(ids) }, { status: 'pending' });
    return pets.map((pet) => Object.assign(pet, { status: 'pending' as const }));
  }

  private async insert(pets: Pet[], clientId: string, manager: EntityManager): Promise<Order[]> {
    const petIds = pets.map(({ id }) => id);
    const placedAt = new Date(this.clock.now()).toISOString();
    const placed = { clientId, status: 'placed', placedAt } as const;
    await manager
      .createQueryBuilder()
      .insert()
      .into(Order)
      .values(petIds.map((petId) => ({ petId, ...placed })))
      .updateEntity(false)
      .execute();
    // A pet has at most one open order.
    return manager.findBy(Order, { petId: In(petIds), status: 'placed' });
  }

  /** Emits the events that `Pets.setStatus` emits. */
  private announce(pets: Pet[], clientId: string, manager: EntityManager): void {
    if (!this.events.has('pet.status_changed')) return;
    const requestId = requestContext.getStore()?.id;
    afterCommit(manager, () => {
      const at = new Date(this.clock.now());
      for (const pet of pets) {
        const event: PetEvent = { pet, clientId, requestId, at };
        this.events.emit('pet.status_changed', event);
      }
    });
  }
}
