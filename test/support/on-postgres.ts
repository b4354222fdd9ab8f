import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findEngine } from './engines.js';
import { PostgresServer } from './postgres.js';

/** Runs a command with a private PostgreSQL for its time: `tsx test/support/on-postgres.ts jest test/pets` */
const [command = '', ...args] = process.argv.slice(2);
const initdb = findEngine('postgres');
if (initdb === undefined) throw new Error('initdb is missing: apt-get install postgresql');

const server = await PostgresServer.start(initdb);
try {
  const env = { ...process.env, TEST_POSTGRES_URL: server.url };
  const child = spawn(command, args, { env, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await server.remove();
}
