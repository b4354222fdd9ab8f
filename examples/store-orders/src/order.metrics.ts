import { Injectable } from '@nestjs/common';
import { type CounterMetric, Metrics } from 'pet-store-service';
import type { OrderStatus } from './order.entity.js';

@Injectable()
export class OrderMetrics {
  private readonly orders: CounterMetric;
  private readonly sales: CounterMetric;

  constructor(metrics: Metrics) {
    this.orders = metrics.counter({
      name: 'store_orders_total',
      help: 'Orders by what became of them.',
      labels: ['became'],
    });
    this.sales = metrics.counter({
      name: 'store_sales_total',
      help: 'Animals that were sold, by whatever means.',
    });
  }

  count(became: OrderStatus): void {
    this.orders.of(became).add();
  }

  countSale(): void {
    this.sales.of().add();
  }
}
