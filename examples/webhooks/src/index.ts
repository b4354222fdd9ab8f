import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { defineExtension } from 'pet-store-service';
import { CreateWebhookDeliveries1764806400000 } from './create-deliveries.migration.js';
import { DeadLettersController } from './dead-letters.controller.js';
import { Deliveries } from './deliveries.js';
import { Delivery } from './delivery.entity.js';
import { Listener } from './listener.js';
import { WebhookSettings } from './settings.js';

@Module({
  imports: [TypeOrmModule.forFeature([Delivery])],
  controllers: [DeadLettersController],
  providers: [Deliveries, Listener],
})
class WebhooksModule {}

export const storeWebhooks = defineExtension({
  name: 'store-webhooks',
  compatibility: '^1.0.0',
  module: WebhooksModule,
  migrations: [CreateWebhookDeliveries1764806400000],
  scopes: { 'webhooks:read': 'Read the events of all clients that could not be delivered.' },
  settings: WebhookSettings,
  from: import.meta.url,
});
