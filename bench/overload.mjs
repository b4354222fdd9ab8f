// `node bench/overload.mjs`: sends five times as many requests as the server can process, and measures how many it
// still processes, and how fast it answers 503 and health checks. The server has one core, the clients the other.
import { prepareSqlite, writeKeys } from './data.mjs';
import { run } from './children.mjs';
import { assertCapable } from './machine.mjs';
import { startOurs } from './servers.mjs';
import { processorSeconds, settle } from './process.mjs';
import { ANIMALS, CONNECTIONS, OTHER_CORE, root } from './settings.mjs';
import { Stage } from './stage.mjs';

const PATH = '/v1/pets?limit=100';
const TIMES = 5;
const CALLERS = 6_000;
const [WARM_UP_SECONDS, SECONDS] = [6, 8];

async function measure(server, keyFile, load) {
  const settings = {
    ...{ port: server.port, path: PATH, keyFile },
    ...{ warmUpSeconds: WARM_UP_SECONDS, seconds: SECONDS, waits: true, ...load },
  };
  const program = [process.execPath, `${root}bench/load/callers.mjs`, JSON.stringify(settings)];
  const before = processorSeconds(server.pid);
  const began = performance.now();
  const figures = JSON.parse(await run('taskset', ['-c', String(OTHER_CORE), ...program]));
  const busy = (processorSeconds(server.pid) - before) / ((performance.now() - began) / 1000);
  await settle(server.pid);
  return { ...figures, busy };
}

function print(name, { admitted, refused, health, failed, busy }) {
  const ms = (value) => (value === null ? '-' : `${value.toFixed(1)} ms`);
  const rate = (value) => `${Math.round(value)}/s`;
  console.log(
    `${name}: ${rate(admitted.perSecond)} processed (p99 ${ms(admitted.p99Ms)}), ` +
      `${rate(refused.perSecond)} refused (p50 ${ms(refused.p50Ms)}, p99 ${ms(refused.p99Ms)}), ` +
      `health p99 ${ms(health.p99Ms)}, ${failed} failed, core ${Math.round(busy * 100)} % busy`,
  );
}

assertCapable({ programs: ['taskset'], packages: [] });
const stage = new Stage();
try {
  const { file, keys } = await prepareSqlite(stage, 'animals', { animals: ANIMALS });
  const keyFile = writeKeys(stage, 'keys', keys);
  const server = await startOurs(stage, { databaseUrl: `sqlite:${file}` });
  const closed = { perSecond: null, callers: CONNECTIONS };
  const atPeak = () => measure(server, keyFile, { ...closed, warmUpSeconds: 2, seconds: 4 });
  const peak = await atPeak();
  print('peak', peak);
  const perSecond = Math.round(TIMES * peak.admitted.perSecond);
  const rush = { perSecond, callers: CALLERS };
  const waiting = await measure(server, keyFile, rush);
  print(`${perSecond}/s sent, clients wait for Retry-After`, waiting);
  const persistent = await measure(server, keyFile, { ...rush, waits: false });
  print(`${perSecond}/s sent, clients do not wait`, persistent);
  const after = await atPeak();
  print('peak, again', after);
  // The speed of the machine may have changed meanwhile.
  const most = (peak.admitted.perSecond + after.admitted.perSecond) / 2;
  const share = ({ admitted }) => `${Math.round((admitted.perSecond / most) * 100)} %`;
  console.log(
    `processed: ${share(waiting)} of the peak; if clients do not wait ${share(persistent)}`,
  );
} finally {
  await stage.close();
}
