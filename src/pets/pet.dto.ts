import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { MadeBy } from '../input/dto.js';
import { INT64_MAX, INT64_MIN, isInt64 } from '../input/json.js';
import { DEFAULT_LIMIT, IsLimit, toLimit } from '../input/limit.js';
import { constrain, MayBeAbsent } from '../input/validation.js';
import { decodeCursor, PetCursor } from './pet-cursor.js';
import { PET_STATUSES, type PetStatus } from './pet.entity.js';

const MAX_NAME_LENGTH = 255;
/** No control characters, and one that is no white space. Without look-ahead: it is read by others too. */
const NAME =
  // eslint-disable-next-line no-control-regex -- the characters that a name must not have
  /^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$/u;

/** A name as sent, byte for byte: what cannot be stored and shown as it is is refused, not mended. */
function isName(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    // Code points are at most as many as UTF-16 units, and at least half as many.
    value.length <= 2 * MAX_NAME_LENGTH &&
    [...value].length <= MAX_NAME_LENGTH &&
    NAME.test(value) &&
    value.isWellFormed()
  );
}

function isStatus(value: unknown): boolean {
  return PET_STATUSES.includes(value as PetStatus);
}

const IsStatus = (): PropertyDecorator =>
  applyDecorators(
    MayBeAbsent(),
    constrain('isPetStatus', `one of ${PET_STATUSES.join(', ')}`, isStatus),
  );

/** The members of a new animal: the one source for validation and document. */
@MadeBy((members) => Object.assign(new NewPet(), members))
export class NewPet {
  @ApiProperty({
    description: "The animal's name: not only white space, without control characters.",
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: NAME.source,
    example: 'Rex',
  })
  @constrain(
    'isPetName',
    `a string of 1 to ${MAX_NAME_LENGTH} characters, not only white space, without control characters`,
    isName,
  )
  name!: string;

  @ApiProperty({
    description: 'ID of the category the animal belongs to.',
    type: 'integer',
    format: 'int64',
    example: 7,
  })
  @constrain('isInt64', `an integer from ${INT64_MIN} to ${INT64_MAX}`, isInt64)
  categoryId!: number | bigint;

  @ApiPropertyOptional({
    description: 'Availability status. Left out, it stays unset.',
    enum: PET_STATUSES,
    enumName: 'PetStatus',
    example: 'available',
  })
  @IsStatus()
  status?: PetStatus;
}

class PetId {
  @ApiProperty({
    description: 'Unique identifier assigned on creation.',
    type: 'integer',
    format: 'int64',
    minimum: 1,
    example: 42,
  })
  id!: bigint;
}

/** An animal as returned. */
@ApiSchema({ name: 'Pet' })
export class PetBody extends IntersectionType(PetId, NewPet) {}

@MadeBy(({ limit, status, cursor }) => {
  const query = new ListPetsQuery();
  if (limit !== undefined) query.limit = toLimit(limit) as number;
  if (status !== undefined) query.status = status as PetStatus;
  if (cursor !== undefined) query.cursor = decodeCursor(cursor) as PetCursor;
  return query;
})
export class ListPetsQuery {
  @IsLimit('Maximum number of animals to return.')
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    description: 'Filters by availability status.',
    enum: PET_STATUSES,
    enumName: 'PetStatus',
  })
  @IsStatus()
  status?: PetStatus;

  @ApiPropertyOptional({
    description:
      'Where the page begins, as the `Link` header of the page before says. Opaque; it belongs to its `status`.',
    type: 'string',
    maxLength: 64,
  })
  @MayBeAbsent()
  @constrain('isCursor', 'a cursor from a Link header', (value) => value instanceof PetCursor)
  @constrain(
    'isOfItsList',
    'used with the status of its own list',
    (cursor, { status }: ListPetsQuery) =>
      !(cursor instanceof PetCursor) || cursor.status === status,
  )
  cursor?: PetCursor;
}
