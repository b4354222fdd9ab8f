import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { RequireScope } from '../../src/index.js';
import { NewOrder, OrderBody } from './order.dto.js';
import { OrdersService } from './orders.service.js';

@ApiTags('store')
@Controller('store/orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  @RequireScope('orders:write')
  @ApiOperation({ summary: 'Place an order' })
  @ApiCreatedResponse({ description: 'The order was placed.', type: OrderBody })
  placeOrder(@Body() order: NewOrder): Promise<OrderBody> {
    return this.orders.create(order);
  }

  @Get(':orderId')
  @RequireScope('orders:read')
  @ApiOperation({ summary: 'Get an order by its ID' })
  @ApiOkResponse({ description: 'The order.', type: OrderBody })
  @ApiNotFoundResponse({ description: 'There is no such order.' })
  getOrder(@Param('orderId') orderId: string): Promise<OrderBody> {
    return this.orders.get(orderId);
  }
}
