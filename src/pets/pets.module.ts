import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Pet } from './pet.entity.js';
import { PetSeeder } from './pet-seeder.js';
import { PetsController } from './pets.controller.js';
import { Pets } from './pets.service.js';

/** Global, so that an extension can inject `Pets` without importing the module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [PetsController],
  providers: [Pets, PetSeeder],
  exports: [Pets],
})
export class PetsModule {}
