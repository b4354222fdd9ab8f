import { Column, Entity, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/** What a process has counted and not yet brought to the hours: half a second of it, in one row. */
@Entity('usage_journal')
export class UsageJournalEntry {
  @PrimaryColumn({ type: 'varchar', length: 32 })
  writer!: string;

  @PrimaryColumn({ type: 'bigint', transformer: numberColumn })
  sequence!: number;

  /** JSON: an array of the columns of `UsageHour`, for each. */
  @Column({ type: 'text' })
  counts!: string;

  /** By the database's clock: Unix milliseconds. */
  @Column({ name: 'saved_at', type: 'bigint', transformer: numberColumn })
  savedAt!: number;
}
