import { Injectable } from '@nestjs/common';
import { type Counter, Metrics } from 'pet-store-service';
import type { OrderStatus } from './order.entity.js';

@Injectable()
export class OrderMetrics {
  private readonly orders: Counter<'status'>;
  private readonly sales: Counter;

  constructor(metrics: Metrics) {
    this.orders = metrics.counter({
      name: 'store_orders_total',
      help: 'Orders that were placed, completed or cancelled, by their new status.',
      labelNames: ['status'],
    });
    this.sales = metrics.counter({
      name: 'store_sales_total',
      help: 'Pets whose status became sold, with or without an order.',
    });
  }

  count(status: OrderStatus, orders = 1): void {
    this.orders.inc({ status }, orders);
  }

  countSale(): void {
    this.sales.inc();
  }
}
