import { ApiProperty } from '@nestjs/swagger';
import { constrain } from '../../src/index.js';

const isCount = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000;

export class NewOrder {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1_000_000, example: 42 })
  @constrain('isPetId', 'a whole number from 1 to 1000000', isCount)
  petId!: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1_000_000, example: 1 })
  @constrain('isQuantity', 'a whole number from 1 to 1000000', isCount)
  quantity!: number;
}

export class OrderBody extends NewOrder {
  @ApiProperty({ format: 'uuid', example: '8e03978e-40d5-43e8-bc93-6894a57f9324' })
  id!: string;
}
