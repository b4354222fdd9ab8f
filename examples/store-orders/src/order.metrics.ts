import { Injectable } from '@nestjs/common';
import { type Counter, Metrics } from 'pet-store-service';
import type { OrderStatus } from './order.entity.js';

@Injectable()
export class OrderMetrics {
  private readonly orders: Counter<'became'>;
  private readonly sales: Counter;

  constructor(metrics: Metrics) {
    this.orders = metrics.counter({
      name: 'store_orders_total',
      help: 'Orders by what became of them.',
      labelNames: ['became'],
    });
    this.sales = metrics.counter({
      name: 'store_sales_total',
      help: 'Animals that were sold, by whatever means.',
    });
  }

  count(became: OrderStatus): void {
    this.orders.inc({ became });
  }

  countSale(): void {
    this.sales.inc();
  }
}
