import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Logger, type PetEvent } from 'pet-store-service';
import { OrderMetrics } from './order.metrics.js';

/** Listens to sales of pets, after the commit. */
@Injectable()
export class Sales {
  constructor(
    private readonly metrics: OrderMetrics,
    private readonly logger: Logger,
  ) {}

  @OnEvent('pet.status_changed')
  statusChanged({ pet, clientId }: PetEvent): void {
    if (pet.status !== 'sold') return;
    this.metrics.countSale();
    this.logger.info({ petId: pet.id, clientId }, 'A pet was sold');
  }
}
