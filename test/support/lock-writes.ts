import Database from 'better-sqlite3';
import { Client } from 'pg';

/** Blocks inserts of animals with a lock of another connection. @returns releases the lock */
export async function lockWrites(databaseUrl: string): Promise<() => Promise<void>> {
  if (databaseUrl.startsWith('sqlite:')) {
    const database = new Database(databaseUrl.slice('sqlite:'.length));
    database.exec('BEGIN IMMEDIATE');
    return () => Promise.resolve(void database.close());
  }
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE pets IN EXCLUSIVE MODE');
  return () => client.end();
}
