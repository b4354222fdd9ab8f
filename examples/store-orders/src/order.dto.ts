import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  Equals,
  IsArray,
  IsIn,
  IsObject,
  IsOptional,
  ValidateNested,
} from 'class-validator';
import { IsInt64, PageQuery } from 'pet-store-service';
import { type Order, ORDER_STATUSES, type OrderStatus } from './order.entity.js';

/** Of a bulk order. A 400 names every fault of every line, while other requests wait. */
export const MAX_LINES = 1_000;

export class NewOrder {
  @ApiProperty({ description: 'The pet that is ordered.', example: 42 })
  @IsInt64({ minimum: 1n })
  petId!: bigint;

  @ApiProperty({ description: 'There is one of each pet.', type: 'integer', enum: [1] })
  @Equals(1, { message: 'quantity must be 1: there is one of each pet' })
  quantity!: number;
}

export class BulkOrder {
  @ApiProperty({
    description: 'The pets that are ordered: all of them, or none.',
    type: [NewOrder],
    minItems: 1,
    maxItems: MAX_LINES,
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_LINES)
  // Otherwise an array would be accepted for a line, because class-validator looks for lines in it.
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => NewOrder)
  lines!: NewOrder[];
}

export class PlacedOrders {
  @ApiProperty({
    description: 'The IDs of the orders, in the order of the lines.',
    type: 'array',
    items: { type: 'integer', format: 'int64' },
    maxItems: MAX_LINES,
    example: [7, 8],
  })
  orderIds!: bigint[];
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
