import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Pet } from './pet.entity.js';
import { PetSeeder } from './pet-seeder.js';
import { Pets } from './pets.facade.js';
import { PetsController } from './pets.controller.js';
import { PetsRepository } from './pets.repository.js';
import { PetsService } from './pets.service.js';

/** Global, so that an extension can inject `Pets` without importing the module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [PetsController],
  providers: [Pets, PetSeeder, PetsService, PetsRepository],
  exports: [Pets],
})
export class PetsModule {}
