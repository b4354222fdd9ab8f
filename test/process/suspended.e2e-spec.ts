import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';
import { jsonInProcess } from '../support/run-program.js';

/** Longer than the look-back of the poller: a node that ignores its own pause misses the change. */
const LONG_MS = 11_000;

it('a revocation takes effect on a server that was suspended during it', async () => {
  using workplace = new Workplace({ LOG_LEVEL: 'silent' });
  const run = (...argv: string[]) => jsonInProcess(`sqlite:${workplace.databaseFile}`, ...argv);
  await run('migrate');
  const { id, key } = await run('keys', 'issue', '--name', 'Zoo', '--plan', 'pro');
  const server = await workplace.serve();
  const client = new Client(server.origin, key);
  expect((await client.get('/v1/pets')).status).toBe(200);
  process.kill(server.pid, 'SIGSTOP');
  await run('keys', 'revoke', id);
  await pause(LONG_MS);
  process.kill(server.pid, 'SIGCONT');
  // Suspended between its poll and the end of the tick, a server may accept one more request.
  await eventually(async () => (await client.get('/v1/pets')).status === 401);
  client.close();
});
