import { ApiProperty } from '@nestjs/swagger';
import type { Row } from 'pet-store-service';
import type { Photo } from './photo.entity.js';

export class PhotoBody {
  @ApiProperty({ type: 'integer', format: 'int64', example: 7 })
  id!: bigint;

  @ApiProperty({ type: 'integer', format: 'int64', example: 42 })
  petId!: bigint;

  @ApiProperty({ enum: ['image/png', 'image/jpeg'] })
  type!: string;

  @ApiProperty({ type: 'integer', example: 183_421 })
  bytes!: number;

  @ApiProperty({ type: 'integer', description: 'Pixels.', example: 1_280 })
  width!: number;

  @ApiProperty({ type: 'integer', description: 'Pixels.', example: 960 })
  height!: number;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T12:00:00.000Z' })
  addedAt!: string;

  static of({ id, petId, type, bytes, width, height, addedAt }: Row<Photo>): PhotoBody {
    return { id, petId, type, bytes, width, height, addedAt };
  }
}
