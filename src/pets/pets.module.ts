import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Pets } from '../extensions/pets.js';
import { Pet } from './pet.entity.js';
import { PetsController } from './pets.controller.js';
import { PetsService } from './pets.service.js';

/** Global, so that other extensions can inject `Pets` without importing the module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [PetsController],
  providers: [PetsService, { provide: Pets, useExisting: PetsService }],
  exports: [Pets],
})
export class PetsModule {}
