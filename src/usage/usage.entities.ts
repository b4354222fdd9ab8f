import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column, numberColumn } from '../database/columns.js';
import { DAY_MS } from '../time/windows.js';

/** The longest history. */
export const KEPT_MS = 7 * DAY_MS;

/** How many requests of a client had the same outcome within an hour. */
@Entity('usage_hours', { withoutRowid: true })
export class UsageHour {
  /**
   * Hours since the Unix epoch. First in the primary key, so that rows written together are stored
   * together.
   */
  @PrimaryColumn({ type: 'bigint', transformer: numberColumn })
  hour!: number;

  @PrimaryColumn({ name: 'client_id', length: 64 })
  clientId!: string;

  /** The status of the response. */
  @PrimaryColumn({ type: 'integer' })
  status!: number;

  /** The code of the error, empty if there was none. */
  @PrimaryColumn({ length: 64 })
  code!: string;

  @Int64Column()
  used!: number;
}

/** Rejected requests in a row that are equal except for their time. Unix milliseconds. */
export interface Refusal {
  /** The latest. */
  at: number;
  firstAt: number;
  count: number;
  code: string;
  operation: string;
  address: string;
  /** The key; undefined if the keys of the client are not told apart. */
  keyId: string | undefined;
  /** The window of the plan that was full. */
  window: 'minute' | 'day' | null;
}

/**
 * Appends a refusal to others, the oldest first. It joins one of the same key that is equal in the
 * members of `EQUAL`, unless a refusal that differs in them came after that one.
 */
export function append(refusals: readonly Refusal[], next: Refusal): Refusal[] {
  const isOther = (each: Refusal) => EQUAL.some((member) => each[member] !== next[member]);
  const equal = refusals.slice(refusals.findLastIndex(isOther) + 1);
  const known = equal.find(({ keyId }) => keyId === next.keyId);
  if (known === undefined) return [...refusals, next];
  const firstAt = Math.min(known.firstAt, next.firstAt);
  const joined = { ...next, firstAt, count: known.count + next.count };
  return [...refusals.filter((each) => each !== known), joined];
}

const EQUAL = ['code', 'operation', 'address', 'window'] as const;

/** The latest rejected requests of a client, as one process has seen them. */
@Entity('usage_refusals')
@Index('usage_refusals_at', ['at'])
export class UsageRefusals {
  @PrimaryColumn({ name: 'client_id', length: 64 })
  clientId!: string;

  /** The process. */
  @PrimaryColumn({ length: 32 })
  writer!: string;

  /** The latest at the end. */
  @Column({ type: 'simple-json' })
  refusals!: Refusal[];

  /** The time of the latest: Unix milliseconds. */
  @Int64Column()
  at!: number;
}
