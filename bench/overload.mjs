// What becomes of the work done while five times as much is asked for as can be done: `node bench/overload.mjs`.
// The server has one core, the callers have the other. Goals: of the peak 80 % is still done, who is refused
// is told so within 50 ms, and health answers within 100 ms.
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

async function ask(server, keyFile, load) {
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

function tell(name, { admitted, refused, health, failed, busy }) {
  const ms = (value) => (value === null ? '-' : `${value.toFixed(1)} ms`);
  const rate = (value) => `${Math.round(value)}/s`;
  console.log(
    `${name}: ${rate(admitted.perSecond)} done (p99 ${ms(admitted.p99Ms)}), ` +
      `${rate(refused.perSecond)} refused (p50 ${ms(refused.p50Ms)}, p99 ${ms(refused.p99Ms)}), ` +
      `health p99 ${ms(health.p99Ms)}, ${failed} failed, core ${Math.round(busy * 100)} % used`,
  );
}

assertCapable({ programs: ['taskset'], packages: [] });
const stage = new Stage();
try {
  const { file, keys } = await prepareSqlite(stage, 'animals', { animals: ANIMALS });
  const keyFile = writeKeys(stage, 'keys', keys);
  const server = await startOurs(stage, { databaseUrl: `sqlite:${file}` });
  const closed = { perSecond: null, callers: CONNECTIONS };
  const atPeak = () => ask(server, keyFile, { ...closed, warmUpSeconds: 2, seconds: 4 });
  const peak = await atPeak();
  tell('peak', peak);
  const perSecond = Math.round(TIMES * peak.admitted.perSecond);
  const rush = { perSecond, callers: CALLERS };
  const patient = await ask(server, keyFile, rush);
  tell(`${perSecond}/s asked, who is refused waits`, patient);
  const impatient = await ask(server, keyFile, { ...rush, waits: false });
  tell(`${perSecond}/s asked, nobody waits`, impatient);
  const after = await atPeak();
  tell('peak, once more', after);
  // The machine may have become faster or slower meanwhile.
  const most = (peak.admitted.perSecond + after.admitted.perSecond) / 2;
  const share = ({ admitted }) => `${Math.round((admitted.perSecond / most) * 100)} %`;
  console.log(`of the peak ${share(patient)} is done; where nobody waits ${share(impatient)}`);
} finally {
  await stage.close();
}
