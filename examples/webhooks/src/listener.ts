import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { KeyBanned, PetEvent, QuotaThreshold } from 'pet-store-service';
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
    const data = { keyId, clientId, until: until.toISOString() };
    return this.deliveries.addForOperator('key.banned', data);
  }

  /** Once per client, window and node: a receiver may get it from several nodes. */
  @OnEvent('quota.threshold')
  quotaThreshold({ clientId, window, percent }: QuotaThreshold): Promise<void> {
    return this.deliveries.addForOperator('quota.threshold', { clientId, window, percent });
  }
}
