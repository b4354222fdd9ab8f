import { Injectable } from '@nestjs/common';
import { type CounterMetric, Metrics } from 'pet-store-service';
import type { OrderStatus } from './order.entity.js';

@Injectable()
export class OrderMetrics {
  private readonly orders: CounterMetric;

  constructor(metrics: Metrics) {
    this.orders = metrics.counter({
      name: 'store_orders_total',
      help: 'Orders by what became of them.',
      labels: ['became'],
    });
  }

  count(became: OrderStatus): void {
    this.orders.of(became).add();
  }
}
