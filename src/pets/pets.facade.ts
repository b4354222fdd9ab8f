import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { afterCommit } from '../database/transactions.js';
import { Events } from '../events/events.js';
import type { ApiRequest } from '../http/request-context.js';
import { isInt64 } from '../input/int64.js';
import { requestContext } from '../telemetry/request-context.js';
import { Clock } from '../time/clock.js';
import { Pet, type PetStatus } from './pet.entity.js';
import './pet.events.js'; // declares the events of pets
import { noSuchPet } from './pets.service.js';

/** For extensions: reads and locks pets, and sets their status. The core uses `PetsService`. */
@Injectable()
export class Pets {
  constructor(
    @InjectRepository(Pet) private readonly pets: Repository<Pet>,
    private readonly events: Events,
    private readonly clock: Clock,
  ) {}

  /** Reads a pet. */
  async find(id: bigint): Promise<Pet | undefined> {
    return isInt64(id) ? ((await this.pets.findOneBy({ id })) ?? undefined) : undefined;
  }

  /**
   * Reads a pet and locks it until the transaction of `manager` ends.
   * @throws {Error} outside a transaction
   */
  async lock(id: bigint, manager: EntityManager): Promise<Pet | undefined> {
    assertTransaction(manager);
    if (!isInt64(id)) return undefined;
    // On SQLite, a transaction is the only writer and the mode is ignored.
    const lock = { mode: 'pessimistic_write' as const };
    return (await manager.findOne(Pet, { where: { id }, lock })) ?? undefined;
  }

  /**
   * Sets the status of a pet in the transaction of `manager`.
   * @throws {ApiError} 404 `pet_not_found`
   * @throws {Error} outside a transaction
   */
  async setStatus(id: bigint, status: PetStatus | null, manager: EntityManager): Promise<void> {
    assertTransaction(manager);
    // Before the update, because it reads the previous status.
    await this.registerEvent(id, status, manager);
    const { affected } = isInt64(id) ? await manager.update(Pet, { id }, { status }) : {};
    if (!affected) throw noSuchPet(id);
  }

  /** Emits the event after the commit, if the status changes. */
  private async registerEvent(
    id: bigint,
    status: PetStatus | null,
    manager: EntityManager,
  ): Promise<void> {
    if (!this.events.has('pet.status_changed')) return;
    const before = await this.lock(id, manager);
    if (before === undefined || before.status === status) return;
    const pet = Object.assign(new Pet(), before, { status });
    const request = requestContext.getStore() as ApiRequest | undefined;
    const origin = { clientId: request?.caller?.clientId, requestId: request?.id };
    afterCommit(manager, () => {
      const event = { pet, ...origin, at: new Date(this.clock.now()) };
      this.events.emit('pet.status_changed', event, request?.id);
    });
  }
}

function assertTransaction(manager: EntityManager): void {
  if (manager.queryRunner?.isTransactionActive) return;
  throw new Error(
    'Pets.lock() and Pets.setStatus() need a transaction: ' +
      'dataSource.transaction((manager) => pets.lock(id, manager)).',
  );
}
