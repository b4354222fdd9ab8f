import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInteger } from '../input/int64.js';
import { ApiCount, ApiTimeOrNull } from '../input/unix-time.js';
import { PLAN } from '../rate-limits/plan.js';

const MAX_GRACE_SECONDS = 86_400;
const ID = { description: 'ID of the key. It is no secret.', example: 'key_0Lj0QR9b3sycDOpwV' };
const EXPIRES_AT = 'Expiry of the key (Unix time), or null.';

export class Key {
  @ApiProperty(ID)
  id!: string;

  @ApiProperty({ description: 'ID of the client. It survives rotations.', example: ID.example })
  clientId!: string;

  @ApiProperty({ description: 'Name of the key.', example: 'City zoo' })
  name!: string;

  @ApiProperty({ description: 'Last 4 characters of the key.', example: 'Sgwa' })
  last4!: string;

  @ApiProperty(PLAN)
  plan!: string;

  @ApiProperty({ description: 'The scopes of the key.', type: [String], example: ['pets:read'] })
  scopes!: string[];

  @ApiCount('When it was issued (Unix time).', 1764892800)
  createdAt!: number;

  @ApiTimeOrNull(EXPIRES_AT)
  expiresAt!: number | null;

  @ApiTimeOrNull('Last use (Unix time), up to 60 seconds ago, or null.', 1764892860)
  lastUsedAt!: number | null;

  @ApiTimeOrNull('End of the ban (Unix time), or null.')
  bannedUntil!: number | null;
}

/** The body of rotateKey. */
export class KeyRotation {
  @ApiPropertyOptional({
    description: 'How long the old key stays valid, at most until its expiry.',
    default: MAX_GRACE_SECONDS,
  })
  @IsInteger(0, MAX_GRACE_SECONDS)
  graceSeconds: number = MAX_GRACE_SECONDS;
}

export class PreviousKey {
  @ApiProperty(ID)
  id!: string;

  @ApiCount('End of the old key (Unix time).', 1764979200)
  expiresAt!: number;
}

export class RotatedKey {
  @ApiProperty(ID)
  id!: string;

  @ApiProperty({
    description: 'The new key. Store it now: it is not shown again.',
    example: 'psk_EXAMPLE',
  })
  key!: string;

  @ApiTimeOrNull(EXPIRES_AT)
  expiresAt!: number | null;

  @ApiProperty({ type: PreviousKey })
  previous!: PreviousKey;
}
