import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInteger } from '../core/input/int64.js';

const MAX_GRACE_SECONDS = 86_400;

/** The body of rotateKey. */
export class KeyRotation {
  @ApiPropertyOptional({
    description: 'How long the old key stays valid, at most until its expiry.',
    default: MAX_GRACE_SECONDS,
  })
  @IsInteger(0, MAX_GRACE_SECONDS)
  graceSeconds: number = MAX_GRACE_SECONDS;
}
