import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import type { Eventual } from '../database/eventual.js';
import { Deprecated } from '../deprecation/deprecation.js';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { ErrorBody } from '../errors/error.dto.js';
import type { JsonAnswer } from '../http/answers.js';
import {
  ApiIdempotent,
  Idempotency,
  type IdempotentRequest,
} from '../idempotency/idempotency.service.js';
import type { Origin } from '../keys/caller.js';
import { RequestOrigin } from '../keys/current-caller.decorator.js';
import { RequireScope } from '../keys/scope.guard.js';
import { ListPetsQuery, NewPet, PetBody } from './pet.dto.js';
import { PetsService } from './pets.service.js';

@ApiTags('pets')
@Controller('pets')
export class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  @RequireScope('pets:read')
  @ApiOperation({
    summary: 'List animals',
    description:
      'Returns a page of the animals, in the order of their ids. Where more follow, `Link` holds the ' +
      'address of the next page; following it to the end visits every animal once.',
  })
  @ApiOkResponse({
    description: 'A page of animals.',
    type: [PetBody],
    headers: {
      Link: {
        description: 'Where more animals follow: the address of the next page (RFC 8288).',
        schema: { type: 'string' },
        example: '<http://localhost:3000/v1/pets?limit=20&cursor=OjIw>; rel="next"',
      },
    },
  })
  listPets(@Query() query: ListPetsQuery): Eventual<JsonAnswer> {
    return this.pets.list(query);
  }

  @Post()
  @RequireScope('pets:write')
  @ApiOperation({ summary: 'Add an animal', description: 'Adds a new animal, durably.' })
  @ApiIdempotent()
  @ApiCreatedResponse({
    description: 'The animal was added.',
    type: PetBody,
    headers: {
      Location: {
        description: 'The address of the new animal.',
        required: true,
        schema: { type: 'string', format: 'uri' },
        example: 'http://localhost:3000/v1/pets/42',
      },
    },
  })
  @ApiBadRequestResponse({
    description: 'The body is missing required fields or contains invalid values.',
    type: ErrorBody,
  })
  createPet(
    @Body() pet: NewPet,
    @Idempotency() request: IdempotentRequest | undefined,
    @RequestOrigin() origin: Origin,
  ): Promise<JsonAnswer> {
    return this.pets.create(pet, request, origin);
  }

  @Get(':petId')
  @RequireScope('pets:read')
  @Deprecated({
    since: new Date('2025-12-05T00:00:00Z'),
    sunset: new Date('2030-12-05T00:00:00Z'),
    successor: { method: 'GET', path: '/pets', hint: 'with a status filter' },
  })
  @ApiOperation({
    summary: 'Get an animal by its ID',
    description:
      'Deprecated: to be removed on 5 December 2030. Use `GET /pets` with a `status` filter instead.',
  })
  @ApiParam({
    name: 'petId',
    description: 'ID of the animal to retrieve.',
    // An animal that is there from the first start on.
    schema: { type: 'integer', format: 'int64', minimum: 1, example: 1 },
  })
  @ApiOkResponse({ description: 'The animal.', type: PetBody })
  @ApiErrors('pet_not_found')
  getPet(@Param('petId') petId: string): Eventual<JsonAnswer> {
    return this.pets.get(petId);
  }
}
