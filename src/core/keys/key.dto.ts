import { ApiProperty, ApiSchema, PickType } from '@nestjs/swagger';
import { ApiCount, ApiTime, ApiTimeOrNull } from '../input/unix-time.js';
import { PLAN } from '../rate-limits/plan.js';

// The JSON of a key, the same in the API, the admin API and on the command line.

const ID = { description: 'ID of the key. It is no secret.', example: 'key_0Lj0QR9b3sycDOpwV' };
const SECRET = {
  description: 'The new key. Store it now: it is not shown again.',
  example: 'psk_EXAMPLE',
};
const TEXT_OR_NULL = [{ type: 'string' }, { type: 'null' }];

/** A key without its secret. */
export class Key {
  @ApiProperty(ID)
  id!: string;

  @ApiProperty({ description: 'Name of the key.', example: 'City zoo' })
  name!: string;

  @ApiProperty(PLAN)
  plan!: string;

  @ApiProperty({ description: 'The scopes of the key.', type: [String], example: ['key:rotate'] })
  scopes!: string[];

  @ApiCount('Requests allowed per minute.', 60, 1)
  perMinute!: number;

  @ApiCount('Requests allowed per day.', 1_000, 1)
  perDay!: number;

  @ApiProperty({ description: 'Last 4 characters of the key.', example: 'Sgwa' })
  last4!: string;

  @ApiTime('When the key was issued.')
  createdAt!: string;

  @ApiTimeOrNull('Expiry of the key, or null.')
  expiresAt!: string | null;

  @ApiTimeOrNull('When the key was revoked, or null.')
  revokedAt!: string | null;

  @ApiTimeOrNull('When the key was disabled, or null.')
  disabledAt!: string | null;

  @ApiTimeOrNull('Last use, up to 60 seconds ago, or null.')
  lastUsedAt!: string | null;

  @ApiProperty({ oneOf: TEXT_OR_NULL, description: 'Address of the last use, or null.' })
  lastUsedFrom!: string | null;

  @ApiTimeOrNull('End of the ban, or null.')
  bannedUntil!: string | null;

  @ApiProperty({
    description: 'Addresses and CIDR ranges that may use the key. Empty: any.',
    type: [String],
    example: ['203.0.113.0/24'],
  })
  allowedFrom!: string[];

  @ApiProperty({ description: 'ID of the client. It survives rotations.', example: ID.example })
  clientId!: string;

  @ApiProperty({ oneOf: TEXT_OR_NULL, description: 'ID of the successor, or null.' })
  replacedBy!: string | null;
}

export class PreviousKey {
  @ApiProperty(ID)
  id!: string;

  @ApiTime('End of the old key.')
  expiresAt!: string;
}

/** A new key; the only object with its secret. */
@ApiSchema({ name: 'IssuedKey' })
export class IssuedKeyDto extends PickType(Key, [
  'id',
  'name',
  'plan',
  'scopes',
  'perMinute',
  'perDay',
  'createdAt',
  'expiresAt',
]) {
  @ApiProperty(SECRET)
  key!: string;
}

/** A new key, as the operator who has rotated another one sees it. */
@ApiSchema({ name: 'ReplacingKey' })
export class ReplacingKeyDto extends IssuedKeyDto {
  @ApiProperty({ type: PreviousKey })
  replaces!: PreviousKey;
}

/** A new key, as the holder who has rotated another one sees it. */
export class RotatedKey extends PickType(IssuedKeyDto, ['id', 'key', 'expiresAt']) {
  @ApiProperty({ type: PreviousKey })
  previous!: PreviousKey;
}
