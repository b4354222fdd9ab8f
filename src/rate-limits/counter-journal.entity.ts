import { Entity } from 'typeorm';
import { JournalEntry } from '../database/journal-entry.js';

/** What a process has counted and not yet brought to its rows; see `RateLimitCounter` for the columns of a count. */
@Entity('rate_limit_journal')
export class CounterJournalEntry extends JournalEntry {}
