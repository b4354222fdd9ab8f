// One process against two workers on the two cores: what `petstore serve --workers` gains. The load generator
// needs some of the same cores, so the processor time of a request is told too, for every process: what the
// workers would reach where the load came from elsewhere follows from it.
import { readFileSync, readdirSync } from 'node:fs';
import { prepareSqlite, writeKeys } from './data.mjs';
import { run } from './children.mjs';
import { ANIMALS, CONNECTIONS, root } from './settings.mjs';
import { answers, freePort, Stage } from './stage.mjs';

const ROUNDS = 5;
const SECONDS = 4;
const PATH = '/v1/pets?limit=20';
const ALL_CORES = '0,1';
const TICKS_PER_SECOND = 100;
const ON_PAPER = 32;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
}

function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function serve(stage, file, workers, core) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  return stage.start({
    name: `${workers} workers`,
    args: [
      '--max-semi-space-size=8',
      `${root}dist/src/main.js`,
      'serve',
      '--workers',
      String(workers),
    ],
    env: {
      NODE_ENV: 'production',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      DATABASE_URL: `sqlite:${file}`,
    },
    port,
    core,
    isReady: () => answers(`http://127.0.0.1:${port}/health/ready`),
  });
}

/** Requests a second, and the microseconds of processor time that one took: of the server, and of its children. */
async function load({ pid, port }, keyFile, core) {
  const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '--latency'];
  const script = ['-s', `${root}bench/load/requests.lua`, `http://127.0.0.1:${port}`, '--'];
  const children = childrenOf(pid);
  const used = () => [
    processorSeconds(pid),
    children.map(processorSeconds).reduce((a, b) => a + b, 0),
  ];
  const before = used();
  const args = ['list', PATH, keyFile, String(ANIMALS), '0'];
  const output = await run('taskset', ['-c', core, ...wrk, ...script, ...args]);
  const after = used();
  const { requests, seconds, errors } = JSON.parse(/RESULT (.*)/.exec(output)[1]);
  if (errors > 0) throw new Error(`${errors} of ${requests} failed`);
  const [own, workers] = after.map((each, index) => ((each - before[index]) / requests) * 1e6);
  return { perSecond: requests / seconds, own, workers };
}

const stage = new Stage();
try {
  const { file, keys } = await prepareSqlite(stage, 'animals', { animals: ANIMALS });
  const keyFile = writeKeys(stage, 'keys', keys);
  // One after the other on one file: two servers that count by themselves must not share one.
  const figures = { one: [], two: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, workers, core, loadCore] of [
      // At the same place: to be alone on a core is another comparison.
      ['one', 1, ALL_CORES, ALL_CORES],
      ['two', 2, ALL_CORES, ALL_CORES],
    ]) {
      const server = await serve(stage, file, workers, core);
      await load(server, keyFile, loadCore);
      figures[name].push(await load(server, keyFile, loadCore));
      await server.stop();
    }
  }
  const of = (name, figure) => median(figures[name].map((each) => each[figure]));
  const single = of('one', 'own');
  const [primary, worker] = [of('two', 'own'), of('two', 'workers')];
  const rate = (microseconds) => Math.round(1e6 / microseconds);
  console.log(
    `one process: ${Math.round(of('one', 'perSecond'))}/s, ${single.toFixed(1)} µs a request`,
  );
  console.log(
    `two workers, the load on their cores: ${Math.round(of('two', 'perSecond'))}/s ` +
      `(${(of('two', 'perSecond') / of('one', 'perSecond')).toFixed(2)} of one process); ` +
      `${worker.toFixed(1)} µs a request in the workers, ${primary.toFixed(1)} µs in the primary process`,
  );
  console.log(
    `two cores for them alone, by processor time: ${((2 * single) / (worker + primary)).toFixed(2)} of one process`,
  );
  console.log(
    `${ON_PAPER} workers, on paper: ${Math.min(ON_PAPER * rate(worker), rate(primary))}/s: the workers alone could ` +
      `${ON_PAPER * rate(worker)}/s, the primary process counts ${rate(primary)}/s`,
  );
} finally {
  await stage.close();
}
