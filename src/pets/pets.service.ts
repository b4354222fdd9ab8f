import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../core/database/database.js';
import { afterCommit, rowLock } from '../core/database/transactions.js';
import type { ApiError } from '../core/errors/api-error.js';
import { Events } from '../core/events/events.js';
import { Pets } from '../extensions/pets.js';
import { isInt64 } from '../core/input/int64.js';
import type { Page } from '../core/input/page.js';
import { TableGateway } from '../core/tables/table-gateway.js';
import { requestContext } from '../core/telemetry/request-context.js';
import { Clock } from '../core/time/clock.js';
import type { ListPetsQuery, NewPet, PetDto } from './pet.dto.js';
import { Pet, type PetStatus } from './pet.entity.js';
import { petErrors } from './pet.errors.js';
import type { PetEvent } from './pet.events.js';

export function noSuchPet(id?: bigint): ApiError {
  const message = id === undefined ? 'There is no such pet' : `There is no pet ${id}`;
  return petErrors.pet_not_found(message);
}

/** The pets of the store. */
@Injectable()
export class PetsService extends Pets {
  private readonly table: TableGateway<Pet>;

  constructor(
    private readonly database: Database,
    private readonly events: Events,
    private readonly clock: Clock,
  ) {
    super();
    this.table = new TableGateway(Pet, database);
  }

  list(query: ListPetsQuery): Promise<Page<PetDto>> {
    return this.table.page(query, { status: query.status });
  }

  async create(values: NewPet): Promise<PetDto> {
    const pet = await this.table.insert(values);
    this.emit('pet.created', this.database.dataSource.manager, () => this.table.entityOf(pet));
    return pet;
  }

  /** @throws {ApiError} 404 `pet_not_found` */
  async get(id: bigint): Promise<PetDto> {
    const pet = await this.table.find(id);
    if (pet === undefined) throw noSuchPet(id);
    return pet;
  }

  override async find(id: bigint): Promise<Pet | undefined> {
    const pet = isInt64(id) ? await this.table.find(id) : undefined;
    return pet && this.table.entityOf(pet);
  }

  override async lock(id: bigint, manager: EntityManager): Promise<Pet | undefined> {
    if (!manager.queryRunner?.isTransactionActive) {
      throw new Error(
        'Pets.lock() and Pets.setStatus() need a transaction: ' +
          'dataSource.transaction((manager) => pets.lock(id, manager)).',
      );
    }
    if (!isInt64(id)) return undefined;
    const options = { where: { id }, ...rowLock(manager) };
    return (await manager.findOne(Pet, options)) ?? undefined;
  }

  override async setStatus(
    id: bigint,
    status: PetStatus | null,
    manager: EntityManager,
  ): Promise<void> {
    const before = await this.lock(id, manager);
    if (before === undefined) throw noSuchPet(id);
    if (before.status === status) return;
    await manager.update(Pet, { id }, { status });
    this.emit('pet.status_changed', manager, () => Object.assign(before, { status }));
  }

  /** Emits an event after the commit of the transaction, if it has a handler. */
  private emit(name: string, manager: EntityManager, pet: () => Pet): void {
    if (!this.events.has(name)) return;
    const { id: requestId, caller } = requestContext.getStore() ?? {};
    afterCommit(manager, () => {
      const at = new Date(this.clock.now());
      const event: PetEvent = { pet: pet(), clientId: caller?.clientId, requestId, at };
      this.events.emit(name, event);
    });
  }
}
