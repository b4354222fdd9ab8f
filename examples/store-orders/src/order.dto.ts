import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Equals, IsIn, IsOptional } from 'class-validator';
import { IsInt64, PageQuery } from 'pet-store-service';
import { type Order, ORDER_STATUSES, type OrderStatus } from './order.entity.js';

export class NewOrder {
  @ApiProperty({ description: 'The pet that is ordered.', example: 42 })
  @IsInt64({ minimum: 1n })
  petId!: bigint;

  @ApiProperty({ description: 'There is one of each pet.', type: 'integer', enum: [1] })
  @Equals(1, { message: 'quantity must be 1: there is one of each pet' })
  quantity!: number;
}

export class OrderBody {
  @ApiProperty({ type: 'integer', format: 'int64', example: 7 })
  id!: bigint;

  @ApiProperty({ type: 'integer', format: 'int64', example: 42 })
  petId!: bigint;

  @ApiProperty({ type: 'integer', example: 1 })
  quantity!: number;

  @ApiProperty({ enum: ORDER_STATUSES, enumName: 'OrderStatus' })
  status!: OrderStatus;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T12:00:00.000Z' })
  placedAt!: string;

  static of({ id, petId, status, placedAt }: Order): OrderBody {
    return { id, petId, quantity: 1, status, placedAt };
  }
}

export class ListOrdersQuery extends PageQuery {
  @ApiPropertyOptional({ enum: ORDER_STATUSES, enumName: 'OrderStatus' })
  @IsOptional()
  @IsIn(ORDER_STATUSES)
  status?: OrderStatus;
}
