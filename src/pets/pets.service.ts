import { Injectable } from '@nestjs/common';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { Events } from '../events/events.js';
import type { ApiRequest } from '../http/request-context.js';
import type { IdempotentRequest } from '../idempotency/idempotency.service.js';
import { JsonPage } from '../input/json-page.js';
import { Page } from '../input/page.js';
import { Clock } from '../time/clock.js';
import type { ListPetsQuery, NewPet, PetDto } from './pet.dto.js';
import { Pet } from './pet.entity.js';
import './pet.events.js'; // declares the events of pets
import { parsePet, PetsRepository } from './pets.repository.js';

@Injectable()
export class PetsService {
  constructor(
    private readonly pets: PetsRepository,
    private readonly events: Events,
    private readonly clock: Clock,
  ) {}

  async list(query: ListPetsQuery): Promise<Page<PetDto>> {
    const { status, limit } = query;
    const texts = await this.pets.page(status, query.after('int64') ?? 0n, limit + 1);
    // The database built the texts. They are parsed only if an interceptor reads `items`.
    return new JsonPage(Page.of(texts, query, idOf), parsePet);
  }

  async create(
    pet: NewPet,
    idempotent: IdempotentRequest | undefined,
    request: ApiRequest,
  ): Promise<PetDto> {
    // Resolves after the commit.
    const { pet: created, replayed } = await this.pets.insert(pet, idempotent);
    if (!replayed && this.events.has('pet.created')) this.emitCreated(created, request);
    return created;
  }

  /** @throws {ApiError} 404 `pet_not_found` */
  async get(id: bigint): Promise<PetDto> {
    const pet = await this.pets.find(id);
    if (pet === undefined) throw noSuchPet(id);
    return pet;
  }

  private emitCreated(created: PetDto, { caller, id: requestId }: ApiRequest): void {
    const { categoryId, status } = created;
    const pet = { ...created, categoryId: BigInt(categoryId), status: status ?? null };
    const event = {
      pet: Object.assign(new Pet(), pet),
      clientId: caller?.clientId,
      requestId,
      at: new Date(this.clock.now()),
    };
    this.events.emit('pet.created', event, requestId);
  }
}

/** `Int64Pipe` calls it without an argument, for a path parameter that is not an int64. */
export function noSuchPet(id: bigint | string = 'with this ID'): ApiError {
  return errors.pet_not_found(`There is no pet ${id}`);
}

/** Reads the first member without parsing the text. */
function idOf(text: string): bigint {
  return BigInt(text.slice('{"id":'.length, text.indexOf(',')));
}
