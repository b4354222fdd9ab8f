import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Extension } from '../../src/index.js';
import { CreateOrders1764720000000 } from './create-orders.migration.js';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Order])],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class OrdersModule {}

/** What `startPetStore({ extensions: [storeOrders] })` takes. */
export const storeOrders: Extension = {
  module: OrdersModule,
  migrations: [CreateOrders1764720000000],
};
