import { defineExtension } from 'pet-store-service';
import { CreateOrders1764720000000 } from './create-orders.migration.js';
import { orderErrors } from './order.errors.js';
import { ordersCommand } from './orders.command.js';
import { OrdersModule } from './orders.module.js';

export const storeOrders = defineExtension({
  name: 'store-orders',
  compatibility: '^1.0.0',
  module: OrdersModule,
  migrations: [CreateOrders1764720000000],
  scopes: {
    'orders:read': 'Read orders.',
    'orders:write': 'Place, cancel and complete orders.',
  },
  errors: orderErrors,
  commands: [ordersCommand],
  from: import.meta.url,
});
