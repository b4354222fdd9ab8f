// What the history of use costs a request: `node bench/growth/usage.mjs`. A minute of a busy process, without
// the requests: counted, saved twice a second and brought to its hours, on SQLite as it is deployed. The goal is
// less than a microsecond of the processor's time. Of 5,000 clients each request is one more count to save: there
// is nothing to gather. Why a client was refused is saved in a row of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../compare.mjs';
import { root } from '../settings.mjs';

const GOAL_MICROSECONDS = 1;
const CLIENTS = [1, 200, 5_000];
const SAVES = 120;
/** Of each save: 10,000 requests a second. */
const REQUESTS = 5_000;
const ROUNDS = 3;
/** Of so many requests of each client, one asks for what is not there and one is too many, at another time for each. */
const OF_REQUESTS = 20;

const directory = mkdtempSync(join(tmpdir(), 'petstore-usage-'));
Object.assign(process.env, {
  DATABASE_URL: `sqlite:${join(directory, 'petstore.db')}`,
  LOG_LEVEL: 'error',
  METRICS_PORT: '0',
  PORT: '0',
});
const { startPetStore } = await import(`${root}dist/src/server.js`);
const { UsageHistory } = await import(`${root}dist/src/usage/usage-history.js`);
const { UsageLedger } = await import(`${root}dist/src/usage/usage-ledger.js`);
const { SharedNames } = await import(`${root}dist/src/rate-limits/names.js`);
const { Clock } = await import(`${root}dist/src/time/clock.js`);
const { Logger } = await import(`${root}dist/src/telemetry/logger.js`);
const store = await startPetStore();
try {
  for (const clients of CLIENTS) {
    for (const refuses of [false, true]) await tell(clients, refuses);
  }
} finally {
  await store.close();
  rmSync(directory, { recursive: true });
}

async function tell(clients, refuses) {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round++) rounds.push(await minuteOf(clients, refuses));
  // The first is there to warm up.
  const [counted, all] = ['counted', 'all'].map((part) =>
    median(rounds.slice(1).map((each) => each[part])),
  );
  const what = `${clients} client${clients === 1 ? '' : 's'}, ${refuses ? 'a tenth of the requests refused' : 'no request refused'}`;
  const missed = all < GOAL_MICROSECONDS ? '' : `; the goal is ${GOAL_MICROSECONDS}`;
  console.log(
    `${what}: ${all.toFixed(2)} µs a request, ${counted.toFixed(2)} of it to count${missed}`,
  );
}

/** Microseconds of the processor for each request: to count it alone, and with all that follows. */
async function minuteOf(clients, refuses) {
  const { app } = store;
  // One that nothing else saves.
  const history = new UsageHistory(
    app.get(UsageLedger),
    app.get(Clock),
    app.get(Logger),
    app.get(SharedNames),
  );
  const requests = Array.from({ length: clients * OF_REQUESTS }, (_none, index) => {
    const client = index % clients;
    const place = (Math.floor(index / clients) + client) % OF_REQUESTS;
    return requestOf(`client-${client}`, refuses ? place : -1);
  });
  let counted = 0;
  let next = 0;
  const began = process.cpuUsage();
  for (let save = 0; save < SAVES; save++) {
    const since = process.cpuUsage();
    for (let index = 0; index < REQUESTS; index++) {
      const { request, status } = requests[next++ % requests.length];
      history.record(request, status);
    }
    counted += microseconds(process.cpuUsage(since));
    await history.save();
  }
  await history.bring();
  const all = microseconds(process.cpuUsage(began));
  return { counted: counted / SAVES / REQUESTS, all: all / SAVES / REQUESTS };
}

/** @param place among the client's requests; -1 where all are alike */
function requestOf(clientId, place) {
  const request = { caller: { quota: { subject: clientId } }, operation: 'listPets' };
  if (place === 0) return { request: refused(request, 'pet_not_found'), status: 404 };
  if (place === 1) return { request: refused(request, 'rate_limit_exceeded'), status: 429 };
  return { request, status: 200 };
}

function refused(request, code) {
  return { ...request, refusal: { code, address: '192.0.2.1' } };
}

function microseconds({ user, system }) {
  return user + system;
}
