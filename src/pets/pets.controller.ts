import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { Deprecated } from '../core/deprecation/deprecation.js';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { Creates } from '../core/http/creates.decorator.js';
import { Idempotent } from '../core/idempotency/idempotent.decorator.js';
import { ApiPage } from '../core/input/api-page.decorator.js';
import { Int64Pipe } from '../core/input/int64.js';
import type { Page } from '../core/input/page.js';
import { StrictInput } from '../core/input/strict-input.decorator.js';
import { RequireScope } from '../core/keys/scope.guard.js';
import { ListPetsQuery, NewPet, PetDto } from './pet.dto.js';
import { petErrors } from './pet.errors.js';
import { noSuchPet, PetsService } from './pets.service.js';

@StrictInput()
@ApiTags('pets')
@Controller('pets')
export class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  @RequireScope('pets:read')
  @ApiOperation({
    summary: 'List pets',
    description:
      'Returns one page of pets in the order of their IDs. If more pets follow, `Link` contains the URL of ' +
      'the next page. Each pet that exists throughout the iteration is returned exactly once.',
  })
  @ApiPage(PetDto, { name: 'Pets', description: 'A page of pets.' })
  listPets(@Query() query: ListPetsQuery): Promise<Page<PetDto>> {
    return this.pets.list(query);
  }

  @Post()
  @RequireScope('pets:write')
  @ApiOperation({
    summary: 'Add a pet',
    description: 'Adds a new pet. The response is sent once the pet is stored durably.',
  })
  @Creates(PetDto, { at: '/pets/:id', description: 'The pet was added.' })
  @Idempotent()
  createPet(@Body() pet: NewPet): Promise<PetDto> {
    return this.pets.create(pet);
  }

  @Get(':petId')
  @RequireScope('pets:read')
  @Deprecated({
    since: new Date('2025-12-05T00:00:00Z'),
    sunset: new Date('2030-12-05T00:00:00Z'),
    successor: { path: '/pets', hint: 'with a status filter if the status is known' },
  })
  @ApiOperation({
    summary: 'Get a pet by its ID',
    description:
      'Deprecated. Will be removed on 5 December 2030. Use `GET /pets` with a `status` filter if the ' +
      'status is known, and find the `id` in the response.',
  })
  @ApiParam({
    name: 'petId',
    description: 'ID of the pet to retrieve.',
    // The first sample pet.
    schema: { type: 'integer', format: 'int64', minimum: 1, example: 1 },
  })
  @ApiOkResponse({ description: 'The pet.', type: PetDto })
  @ApiErrors(petErrors.pet_not_found)
  getPet(@Param('petId', new Int64Pipe(noSuchPet)) petId: bigint): Promise<PetDto> {
    return this.pets.get(petId);
  }
}
