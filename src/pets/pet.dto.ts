import { applyDecorators } from '@nestjs/common';
import {
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  ApiSchema,
  IntersectionType,
  OmitType,
} from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { constrain, MayBeAbsent } from '../core/input/constrain.js';
import { IsInt64 } from '../core/input/int64.js';
import { PageQuery } from '../core/input/page.js';
import { isVisible } from '../core/input/visible-text.js';
import { PET_STATUSES, type PetStatus } from './pet.entity.js';

const MAX_NAME_LENGTH = 255;
const NAME_DESCRIPTION = 'Name of the pet.';
/**
 * Visible text without control characters. Published in the document, so without look-ahead, which
 * some clients lack.
 */
const NAME =
  // eslint-disable-next-line no-control-regex -- the characters that a name must not have
  /^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$/u;

const IsStatus = (options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ ...options, enum: PET_STATUSES, enumName: 'PetStatus' }),
    MayBeAbsent(),
    IsIn(PET_STATUSES),
  );

/** The body of createPet. */
export class NewPet {
  @ApiProperty({
    description: `${NAME_DESCRIPTION} At least one visible character, no control characters.`,
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: NAME.source,
    example: 'Rex',
  })
  @constrain(
    'isPetName',
    `a string of 1 to ${MAX_NAME_LENGTH} characters, at least one of them visible, without control characters`,
    (value) =>
      typeof value === 'string' &&
      [...value].length <= MAX_NAME_LENGTH &&
      NAME.test(value) &&
      isVisible(value),
  )
  name!: string;

  @ApiProperty({ description: 'ID of the category of the pet.', example: 7 })
  @IsInt64()
  categoryId!: bigint;

  @IsStatus({
    description: 'Availability status. Absent if the pet has none.',
    example: 'available',
  })
  status?: PetStatus;
}

class PetIdAndName {
  @ApiProperty({
    description: 'Unique ID, assigned on creation.',
    type: 'integer',
    format: 'int64',
    minimum: 1,
    example: 42,
  })
  id!: bigint;

  /**
   * Without the limits of `NewPet`: if those are raised, clients that validate responses must still
   * accept the pet.
   */
  @ApiProperty({ description: NAME_DESCRIPTION, example: 'Rex' })
  name!: string;
}

/** A pet in a response. */
@ApiSchema({ name: 'Pet' })
export class PetDto extends IntersectionType(PetIdAndName, OmitType(NewPet, ['name'])) {}

export class ListPetsQuery extends PageQuery {
  @IsStatus({ description: 'Returns only pets with this status.' })
  status?: PetStatus;
}
