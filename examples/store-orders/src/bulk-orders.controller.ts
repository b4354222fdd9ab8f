import { Body, Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  ApiErrors,
  BodyLimit,
  type Caller,
  CurrentCaller,
  Idempotent,
  RequireScope,
} from 'pet-store-service';
import { BulkOrdersService } from './bulk-orders.service.js';
import { BulkOrder, MAX_LINES, PlacedOrders } from './order.dto.js';
import { orderErrors } from './order.errors.js';

@ApiTags('store')
@Controller('store/bulk-orders')
export class BulkOrdersController {
  constructor(private readonly bulkOrders: BulkOrdersService) {}

  @Post()
  @RequireScope('orders:write')
  // A line is an object with two members; the array and the body are values too.
  @BodyLimit({ bytes: 131_072, values: 3 * MAX_LINES + 2 })
  @Idempotent()
  @ApiOperation({ summary: 'Place many orders', description: 'All pets are ordered, or none.' })
  @ApiCreatedResponse({ description: 'The orders were placed.', type: PlacedOrders })
  @ApiErrors('pet_not_found', orderErrors.pet_not_available)
  async placeOrders(
    @Body() { lines }: BulkOrder,
    @CurrentCaller() caller: Caller,
  ): Promise<PlacedOrders> {
    return { orderIds: await this.bulkOrders.place(lines, caller) };
  }
}
