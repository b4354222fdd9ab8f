import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BulkOrdersController } from './bulk-orders.controller.js';
import { BulkOrdersService } from './bulk-orders.service.js';
import { Order } from './order.entity.js';
import { OrderMetrics } from './order.metrics.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';
import { Sales } from './sales.js';

@Module({
  imports: [TypeOrmModule.forFeature([Order])],
  controllers: [OrdersController, BulkOrdersController],
  providers: [OrdersService, BulkOrdersService, OrderMetrics, Sales],
})
export class OrdersModule {}
