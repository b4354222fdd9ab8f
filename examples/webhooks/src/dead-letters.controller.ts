import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ApiPage, Database, Page, PageQuery, RequireScope, TableGateway } from 'pet-store-service';
import { Delivery } from './delivery.entity.js';

class DeadLetter {
  @ApiProperty({ type: 'integer', format: 'int64' })
  id!: bigint;

  @ApiProperty({ description: 'The `webhook-id`.' })
  messageId!: string;

  @ApiProperty()
  endpoint!: string;

  @ApiProperty({ description: 'The body that was not delivered, as text.' })
  payload!: string;

  @ApiProperty({ type: 'integer' })
  attempts!: number;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ required: false, description: 'Why the last attempt failed.' })
  lastError?: string;
}

@ApiTags('webhooks')
@Controller('webhooks/dead-letters')
export class DeadLettersController {
  private readonly deliveries: TableGateway<Delivery>;

  constructor(database: Database) {
    this.deliveries = new TableGateway(Delivery, database);
  }

  @Get()
  @RequireScope('webhooks:read')
  @ApiOperation({
    summary: 'List the events that were not delivered',
    description: 'An event is given up after 24 hours, and deleted after 30 more days.',
  })
  @ApiPage(DeadLetter)
  async listDeadLetters(@Query() query: PageQuery): Promise<Page<DeadLetter>> {
    const page = await this.deliveries.page(query, { status: 'dead' });
    return page.map((row) => ({ ...row, status: undefined, nextAt: undefined }));
  }
}
