import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import {
  ApiErrors,
  ApiPage,
  type Caller,
  Creates,
  CurrentCaller,
  Idempotent,
  Int64Pipe,
  type Page,
  RequireScope,
} from 'pet-store-service';
import { ListOrdersQuery, NewOrder, OrderBody } from './order.dto.js';
import { orderErrors } from './order.errors.js';
import { OrdersService } from './orders.service.js';

const OrderId = () =>
  ApiParam({ name: 'orderId', schema: { type: 'integer', format: 'int64' }, example: 7 });

@ApiTags('store')
@Controller('store/orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  @RequireScope('orders:write')
  @Idempotent()
  @Creates(OrderBody, { at: '/store/orders/:id', description: 'The order was placed.' })
  @ApiOperation({ summary: 'Place an order', description: 'The pet becomes `pending`.' })
  @ApiErrors('pet_not_found', orderErrors.pet_not_available)
  placeOrder(@Body() order: NewOrder, @CurrentCaller() { clientId }: Caller): Promise<OrderBody> {
    return this.orders.place(order, clientId);
  }

  @Get()
  @RequireScope('orders:read')
  @ApiOperation({ summary: 'List your orders' })
  @ApiPage(OrderBody)
  listOrders(
    @Query() query: ListOrdersQuery,
    @CurrentCaller() { clientId }: Caller,
  ): Promise<Page<OrderBody>> {
    return this.orders.list(query, clientId);
  }

  @Get(':orderId')
  @RequireScope('orders:read')
  @OrderId()
  @ApiOperation({ summary: 'Get an order by its ID' })
  @ApiOkResponse({ description: 'The order.', type: OrderBody })
  @ApiErrors(orderErrors.order_not_found)
  getOrder(
    @Param('orderId', Int64Pipe) id: bigint,
    @CurrentCaller() { clientId }: Caller,
  ): Promise<OrderBody> {
    return this.orders.get(id, clientId);
  }

  @Post(':orderId/complete')
  @HttpCode(200)
  @RequireScope('orders:write')
  @OrderId()
  @ApiOperation({ summary: 'Complete an order', description: 'The pet becomes `sold`.' })
  @ApiOkResponse({ description: 'The order is completed.', type: OrderBody })
  @ApiErrors(orderErrors.order_not_found, orderErrors.order_closed)
  completeOrder(
    @Param('orderId', Int64Pipe) id: bigint,
    @CurrentCaller() { clientId }: Caller,
  ): Promise<OrderBody> {
    return this.orders.complete(id, clientId);
  }

  @Post(':orderId/cancel')
  @HttpCode(200)
  @RequireScope('orders:write')
  @OrderId()
  @ApiOperation({ summary: 'Cancel an order', description: 'The pet is `available` again.' })
  @ApiOkResponse({ description: 'The order is cancelled.', type: OrderBody })
  @ApiErrors(orderErrors.order_not_found, orderErrors.order_closed)
  cancelOrder(
    @Param('orderId', Int64Pipe) id: bigint,
    @CurrentCaller() { clientId }: Caller,
  ): Promise<OrderBody> {
    return this.orders.cancel(id, clientId);
  }
}
