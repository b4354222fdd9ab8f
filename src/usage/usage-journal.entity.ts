import { Entity } from 'typeorm';
import { JournalEntry } from '../database/journal-entry.js';

/** What a process has counted and not yet brought to the hours; see `UsageHour` for the columns of a count. */
@Entity('usage_journal')
export class UsageJournalEntry extends JournalEntry {}
