import { Column, PrimaryColumn } from 'typeorm';
import { numberColumn } from './columns.js';

/** What every table of a `Journal` has. */
export abstract class JournalEntry {
  @PrimaryColumn({ type: 'varchar', length: 32 })
  writer!: string;

  @PrimaryColumn({ type: 'bigint', transformer: numberColumn })
  sequence!: number;

  /** A JSON array: of each count an array of the columns that it is brought to. */
  @Column({ type: 'text' })
  counts!: string;

  /** By the database's clock: Unix milliseconds. */
  @Column({ name: 'saved_at', type: 'bigint', transformer: numberColumn })
  savedAt!: number;
}
