import { Injectable } from '@nestjs/common';
import {
  ApiError,
  Clock,
  Database,
  errors,
  type Page,
  Pets,
  type PetStatus,
  TableGateway,
} from 'pet-store-service';
import { DataSource, LessThan } from 'typeorm';
import { type ListOrdersQuery, type NewOrder, OrderBody } from './order.dto.js';
import { Order, type OrderStatus } from './order.entity.js';
import { orderErrors } from './order.errors.js';
import { OrderMetrics } from './order.metrics.js';

/** Status that a pet gets when its order is closed. */
const PET_STATUS = {
  completed: 'sold',
  cancelled: 'available',
} as const satisfies Partial<Record<OrderStatus, PetStatus>>;

/** Each client sees and changes only its own orders. */
@Injectable()
export class OrdersService {
  private readonly orders: TableGateway<Order>;

  constructor(
    database: Database,
    private readonly dataSource: DataSource,
    private readonly pets: Pets,
    private readonly clock: Clock,
    private readonly metrics: OrderMetrics,
  ) {
    this.orders = new TableGateway(Order, database);
  }

  async place({ petId }: NewOrder, clientId: string): Promise<OrderBody> {
    const placedAt = new Date(this.clock.now()).toISOString();
    const order = await this.dataSource.transaction(async (manager) => {
      const pet = await this.pets.lock(petId, manager);
      if (pet === undefined) throw errors.pet_not_found(`There is no pet ${petId}`);
      if (pet.status !== 'available') {
        throw orderErrors.pet_not_available(`The pet ${petId} is ${pet.status ?? 'not for sale'}`);
      }
      await this.pets.setStatus(petId, 'pending', manager);
      // Within the transaction, like everything that a table gateway does here.
      return this.orders.insert({ petId, clientId, status: 'placed', placedAt });
    });
    this.metrics.count('placed');
    return OrderBody.of(order);
  }

  async get(id: bigint, clientId: string): Promise<OrderBody> {
    const order = await this.orders.find(id);
    if (order?.clientId !== clientId) throw orderErrors.order_not_found(`There is no order ${id}`);
    return OrderBody.of(order);
  }

  async list(query: ListOrdersQuery, clientId: string): Promise<Page<OrderBody>> {
    const orders = await this.orders.page(query, { clientId, status: query.status });
    return orders.map((order) => OrderBody.of(order));
  }

  complete(id: bigint, clientId: string): Promise<OrderBody> {
    return this.close(id, clientId, 'completed');
  }

  cancel(id: bigint, clientId: string): Promise<OrderBody> {
    return this.close(id, clientId, 'cancelled');
  }

  /**
   * Cancels every order that was placed before a time and is still open.
   * @returns how many
   */
  async cancelPlacedBefore(time: Date): Promise<number> {
    const placedAt = LessThan(time.toISOString());
    const open = await this.dataSource.getRepository(Order).findBy({ status: 'placed', placedAt });
    let cancelled = 0;
    for (const { id, clientId } of open) {
      try {
        await this.cancel(id, clientId);
        cancelled++;
      } catch (error) {
        // The caller has closed the order since.
        if (!(error instanceof ApiError) || error.code !== 'order_closed') throw error;
      }
    }
    return cancelled;
  }

  private async close(
    id: bigint,
    clientId: string,
    status: 'completed' | 'cancelled',
  ): Promise<OrderBody> {
    const { petId } = await this.get(id, clientId);
    const order = await this.dataSource.transaction(async (manager) => {
      // Lock the pet first, as `place` does, so that two transactions cannot deadlock.
      await this.pets.lock(petId, manager);
      const found = await manager.findOneByOrFail(Order, { id });
      if (found.status !== 'placed') {
        throw orderErrors.order_closed(`The order ${id} is ${found.status}`);
      }
      await this.pets.setStatus(petId, PET_STATUS[status], manager);
      return manager.save(Object.assign(found, { status }));
    });
    this.metrics.count(status);
    return OrderBody.of(order);
  }
}
