import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { KeyBanned, PetEvent } from 'pet-store-service';
import { Deliveries } from './deliveries.js';

/** Turns events of the service into webhooks. It runs after the commit, on one node. */
@Injectable()
export class Listener {
  constructor(private readonly deliveries: Deliveries) {}

  @OnEvent('pet.created')
  petCreated({ pet, clientId, at }: PetEvent): Promise<void> {
    return this.deliveries.add('pet.created', { pet, clientId }, at);
  }

  @OnEvent('pet.status_changed')
  petStatusChanged({ pet, clientId, at }: PetEvent): Promise<void> {
    return this.deliveries.add('pet.status_changed', { pet, clientId }, at);
  }

  @OnEvent('key.banned')
  keyBanned({ keyId, clientId, until }: KeyBanned): Promise<void> {
    return this.deliveries.add('key.banned', { keyId, clientId, until: until.toISOString() });
  }
}
