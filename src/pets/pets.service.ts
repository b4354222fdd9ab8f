import { Injectable } from '@nestjs/common';
import { type Eventual, whenHere } from '../database/eventual.js';
import type { Work } from '../database/statement.js';
import { errors } from '../errors/errors.js';
import { INT64_MAX } from '../input/json.js';
import { type AnswerHeader, JsonAnswer } from '../http/answers.js';
import { Events } from '../events/events.js';
import type { Origin } from '../keys/caller.js';
import { Clock } from '../time/clock.js';
import { PublicAddress } from '../http/public-address.js';
import {
  type Creation,
  IdempotencyService,
  type IdempotentRequest,
} from '../idempotency/idempotency.service.js';
import { PetCursor } from './pet-cursor.js';
import type { ListPetsQuery, NewPet } from './pet.dto.js';
import { Pet, type PetStatus } from './pet.entity.js';
import './pet.events.js';
import { idOf, PetsRepository } from './pets.repository.js';

const CANONICAL_ID = /^[1-9]\d{0,18}$/;

@Injectable()
export class PetsService {
  constructor(
    private readonly pets: PetsRepository,
    private readonly idempotency: IdempotencyService,
    private readonly address: PublicAddress,
    private readonly events: Events,
    private readonly clock: Clock,
  ) {}

  /** A page, with the `Link` (RFC 8288) to the next one where there is one. */
  list({ limit, status, cursor }: ListPetsQuery): Eventual<JsonAnswer> {
    // One more than asked for tells whether another page follows.
    const pets = this.pets.page(status, cursor?.after ?? 0n, limit + 1);
    return whenHere(pets, (found) => this.toPage(found, status, limit));
  }

  async create(
    pet: NewPet,
    request: IdempotentRequest | undefined,
    origin: Origin,
  ): Promise<JsonAnswer> {
    const { answer, location, replayed } = await this.idempotency.create(request, () =>
      this.insert(pet),
    );
    const headers: AnswerHeader[] = [['location', `${this.address.baseUrl}${location}`]];
    if (replayed) headers.push(['idempotent-replayed', 'true']);
    else if (this.events.has('pet.created')) this.tell(pet, answer, origin);
    return new JsonAnswer(answer, headers);
  }

  /** @throws {ApiError} 404 `pet_not_found`, also for what cannot be an id */
  get(petId: string): Eventual<JsonAnswer> {
    const id = CANONICAL_ID.test(petId) ? BigInt(petId) : 0n;
    return whenHere(id > INT64_MAX ? undefined : this.pets.find(id), toAnimal);
  }

  private toPage(pets: string[], status: PetStatus | undefined, limit: number): JsonAnswer {
    if (pets.length <= limit) return new JsonAnswer(`[${pets.join()}]`);
    pets.pop();
    const filter = status === undefined ? '' : `status=${status}&`;
    const next = new PetCursor(status, BigInt(idOf(pets[limit - 1]!))).toString();
    const url = `${this.address.baseUrl}/pets?${filter}limit=${limit}&cursor=${next}`;
    return new JsonAnswer(`[${pets.join()}]`, [['link', `<${url}>; rel="next"`]]);
  }

  private tell({ name, categoryId, status }: NewPet, answer: string, origin: Origin): void {
    const pet = Object.assign(new Pet(), {
      id: BigInt(idOf(answer)),
      name,
      categoryId: BigInt(categoryId),
      status: status ?? null,
    });
    const event = { pet, ...origin, at: new Date(this.clock.now()) };
    this.events.emit('pet.created', event, origin.requestId);
  }

  private *insert(pet: NewPet): Work<Creation> {
    const answer = yield* this.pets.insert(pet);
    return { answer, location: `/pets/${idOf(answer)}` };
  }
}

function toAnimal(pet: string | undefined): JsonAnswer {
  if (pet === undefined) throw errors.pet_not_found('There is no such animal');
  return new JsonAnswer(pet);
}
