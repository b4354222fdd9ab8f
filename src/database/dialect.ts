import type { DataSource } from 'typeorm';

/** The table function whose rows, in the column `value`, are the elements of a JSON array. */
export function jsonElements({ options }: DataSource): string {
  return options.type === 'postgres' ? 'json_array_elements' : 'json_each';
}

/** Skips rows that another transaction has locked; on SQLite, which has one writer, none are. */
export function skipLocked({ options }: DataSource, table: string): string {
  return options.type === 'postgres' ? `FOR UPDATE OF ${table} SKIP LOCKED` : '';
}
