import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ApiError, Engine, run, Statement } from '../../src/index.js';
import type { NewOrder } from './order.dto.js';
import { Order } from './order.entity.js';

const INSERT = new Statement(
  'orders.insert',
  () => 'INSERT INTO store_orders (id, pet_id, quantity) VALUES ($1, $2, $3)',
);

@Injectable()
export class OrdersService {
  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    private readonly engine: Engine,
  ) {}

  /** Durable once the promise is fulfilled, as everything that goes through the engine. */
  async create({ petId, quantity }: NewOrder): Promise<Order> {
    const id = randomUUID();
    await this.engine.write(() => run(INSERT, id, petId, quantity));
    return { id, petId, quantity };
  }

  async get(id: string): Promise<Order> {
    const order = await this.orders.findOneBy({ id });
    if (order === null) throw new ApiError('not_found', 'There is no such order');
    return order;
  }
}
