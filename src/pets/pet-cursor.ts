import { INT64_MAX } from '../input/json.js';
import { PET_STATUSES, type PetStatus } from './pet.entity.js';

const SHAPE = new RegExp(`^(${PET_STATUSES.join('|')}|):([1-9]\\d{0,18})$`);

/** Where a page ends: after this animal, in the list with this filter. */
export class PetCursor {
  constructor(
    readonly status: PetStatus | undefined,
    readonly after: bigint,
  ) {}

  /** Opaque to callers: base64url, so that nobody takes it apart. */
  toString(): string {
    return Buffer.from(`${this.status ?? ''}:${this.after}`).toString('base64url');
  }
}

/** The cursor that a text stands for. Anything but a cursor that was handed out is returned as it is. */
export function decodeCursor(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  const [, status, after] = SHAPE.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (after === undefined || BigInt(after) > INT64_MAX) return text;
  const cursor = new PetCursor((status || undefined) as PetStatus | undefined, BigInt(after));
  return cursor.toString() === text ? cursor : text;
}
