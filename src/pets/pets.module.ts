import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { Pet } from './pet.entity.js';
import { Pets } from './pets.js';
import { PetsController } from './pets.controller.js';
import { PetsRepository } from './pets.repository.js';
import { PetsService } from './pets.service.js';

/** Global: a guest's services are given `Pets` without further ado. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Pet]), IdempotencyModule],
  controllers: [PetsController],
  providers: [Pets, PetsService, PetsRepository],
  exports: [Pets, PetsRepository],
})
export class PetsModule {}
