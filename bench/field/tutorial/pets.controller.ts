import {
  Body,
  ClassSerializerInterceptor,
  Controller,
  Get,
  Param,
  ParseIntPipe,
  Post,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { Pet } from './entities.js';
import { CreatePetDto, ListPetsDto } from './pets.dto.js';
import { PetsService } from './pets.service.js';

@Controller('v1/pets')
@UseInterceptors(ClassSerializerInterceptor)
export class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  findAll(@Query() query: ListPetsDto): Promise<Pet[]> {
    return this.pets.findAll(query);
  }

  @Get(':id')
  findOne(@Param('id', ParseIntPipe) id: number): Promise<Pet> {
    return this.pets.findOne(id);
  }

  @Post()
  create(@Body() pet: CreatePetDto): Promise<Pet> {
    return this.pets.create(pet);
  }
}
