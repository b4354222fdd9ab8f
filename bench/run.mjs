// Side by side, interleaved, in one run on one machine: `npm run bench -- --quick` compares ours with the
// floor program in a minute; without it there are more rounds, the ceiling is added, and docs/performance.md
// is written. All figures are ratios: the machine's own speed cancels out.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';

const QUICK = process.argv.includes('--quick');
const ROUNDS = QUICK ? 3 : 7;
const SECONDS = QUICK ? 3 : 6;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 64;
const ANIMALS = 100_000;
const KEYS = 1_000;
const WORKS = ['list', 'get', 'create'];
const GOALS = { list: 1.0, get: 0.85, create: 3.0 };

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const running = [];

function petstore(database, ...args) {
  const env = { ...process.env, DATABASE_URL: `sqlite:${database}` };
  return execFileSync(process.execPath, [`${root}dist/src/main.js`, ...args], {
    env,
    encoding: 'utf8',
  });
}

/** A database with the animals and the keys; resolves to the keys. */
async function prepare(database) {
  petstore(database, 'seed', '--pets', String(ANIMALS));
  const { mintKey, digestOf, mintId } = await import(`${root}dist/src/keys/api-key-format.js`);
  const connection = new Database(database);
  const insert = connection.prepare(
    `INSERT INTO api_keys (id, client_id, name, digest, last_four, plan, scopes, per_minute, per_day,
      created_at, changed_at) VALUES (?, ?, 'bench', ?, ?, 'enterprise', 'pets:read pets:write',
      1000000000, 1000000000, 0, 0)`,
  );
  const keys = Array.from({ length: KEYS }, mintKey);
  connection.transaction(() => {
    for (const key of keys) {
      const id = mintId('key');
      insert.run(id, id, digestOf(key), key.slice(-4));
    }
  })();
  connection.close();
  return keys;
}

/** Starts a server on the first core; resolves once it answers. */
async function start(command, args, port, env = {}) {
  const log = openSync(join(directory, `${port}.log`), 'a');
  const child = spawn('taskset', ['-c', '0', command, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
  });
  running.push(child);
  const began = performance.now();
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/pets`).catch(() => undefined);
    if (answer !== undefined) return { child, port, readyMs: performance.now() - began };
    await new Promise((resume) => setTimeout(resume, 10));
  }
  throw new Error(`${command} did not start: see ${directory}`);
}

/** Loads a server from the second core; the requests it answered a second, and the 99th percentile. */
function load({ port }, work, seconds, keyFile) {
  const wrk = ['-c', '1', 'wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency'];
  const script = ['-s', `${root}bench/load/requests.lua`, `http://127.0.0.1:${port}`];
  const output = execFileSync(
    'taskset',
    [...wrk, ...script, '--', work, keyFile, String(ANIMALS)],
    {
      encoding: 'utf8',
    },
  );
  const result = JSON.parse(/RESULT (.*)/.exec(output)[1]);
  if (result.errors > 0) throw new Error(`${work} on port ${port}: ${result.errors} errors`);
  return { perSecond: result.requests / result.seconds, p99Ms: result.p99Ms };
}

/** Both programs have to do the same job: equal bodies, equal header names. */
async function compareAnswers(one, two, key) {
  for (const path of ['/v1/pets?limit=20', '/v1/pets/7']) {
    const [a, b] = await Promise.all(
      [one, two].map(async ({ port }) => {
        const options = { headers: { authorization: `Bearer ${key}` } };
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, options);
        return { body: await answer.text(), names: [...answer.headers.keys()].sort().join() };
      }),
    );
    if (a.body !== b.body) throw new Error(`${path}: the bodies differ\n${a.body}\n${b.body}`);
    if (a.names !== b.names) throw new Error(`${path}: the headers differ\n${a.names}\n${b.names}`);
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const residentMb = ({ child }) =>
  Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024,
  );

async function main() {
  try {
    execFileSync('which', ['wrk', 'taskset']);
  } catch {
    throw new Error('The load generator is missing: apt-get install wrk util-linux');
  }
  const files = { ours: join(directory, 'ours.db'), floor: join(directory, 'floor.db') };
  const keys = await prepare(files.ours);
  execFileSync('cp', [files.ours, files.floor]);
  const keyFile = join(directory, 'keys.txt');
  writeFileSync(keyFile, keys.join('\n'));

  const ours = await start(process.execPath, ['dist/src/main.js', 'serve'], 4711, {
    DATABASE_URL: `sqlite:${files.ours}`,
    PORT: '4711',
    METRICS_PORT: '4719',
    LOG_FORMAT: 'json',
    NODE_ENV: 'production',
    PUBLIC_BASE_URL: 'http://localhost:4712/v1',
  });
  const idleMb = residentMb(ours);
  const floor = await start(
    process.execPath,
    ['bench/field/floor.mjs', `sqlite:${files.floor}`, '4712'],
    4712,
  );
  await compareAnswers(ours, floor, keys[0]);

  const rows = [];
  for (const work of WORKS) {
    const figures = { ours: [], floor: [] };
    for (const server of [ours, floor]) load(server, work, WARM_UP_SECONDS, keyFile);
    for (let round = 0; round < ROUNDS; round++) {
      figures.ours.push(load(ours, work, SECONDS, keyFile));
      figures.floor.push(load(floor, work, SECONDS, keyFile));
    }
    const ratios = figures.ours.map(
      ({ perSecond }, round) => perSecond / figures.floor[round].perSecond,
    );
    const of = (who, figure) => median(figures[who].map((each) => each[figure]));
    rows.push({
      work,
      ratio: median(ratios),
      min: Math.min(...ratios),
      max: Math.max(...ratios),
      ours: Math.round(of('ours', 'perSecond')),
      floor: Math.round(of('floor', 'perSecond')),
      oursP99: of('ours', 'p99Ms'),
      floorP99: of('floor', 'p99Ms'),
      goal: GOALS[work],
    });
    const { ratio, min, max, goal } = rows.at(-1);
    console.log(
      `${work.padEnd(7)} ${ratio.toFixed(2)} of the floor (${min.toFixed(2)}-${max.toFixed(2)}; goal ${goal})`,
    );
  }
  const loadedMb = residentMb(ours);
  const ceiling = QUICK ? undefined : await compareWithCeiling(ours, keys[0], keyFile);
  console.log(
    `ready in ${Math.round(ours.readyMs)} ms; ${idleMb} MB idle, ${loadedMb} MB after the load`,
  );
  if (!QUICK) writePage(rows, { readyMs: ours.readyMs, idleMb, loadedMb, ceiling });
}

/** The list against a constant page of as many bytes: what is left of what the runtime allows. */
async function compareWithCeiling(ours, key, keyFile) {
  const options = { headers: { authorization: `Bearer ${key}` } };
  const page = await fetch(`http://127.0.0.1:${ours.port}/v1/pets?limit=20`, options);
  const bytes = String(Buffer.byteLength(await page.text()));
  const server = await start(process.execPath, ['bench/field/ceiling.mjs', bytes, '4713'], 4713);
  const ratios = [];
  for (let round = 0; round < ROUNDS; round++) {
    const mine = load(ours, 'list', SECONDS, keyFile);
    ratios.push(mine.perSecond / load(server, 'list', SECONDS, keyFile).perSecond);
  }
  return median(ratios);
}

function writePage(rows, { readyMs, idleMb, loadedMb, ceiling }) {
  const line = (row) =>
    `| ${row.work} | **${row.ratio.toFixed(2)}** (${row.min.toFixed(2)}-${row.max.toFixed(2)}) | ${row.goal} | ` +
    `${row.ours} | ${row.floor} | ${row.oursP99.toFixed(1)} | ${row.floorP99.toFixed(1)} |`;
  const page = `# Performance

Ratios, measured side by side and interleaved in one run; the requests a second are those of this machine on
that day, and mean nothing by themselves. Written by \`npm run bench\`; \`npm run bench -- --quick\` takes a minute.

The floor is [a hand-written program](../bench/field/floor.mjs) that does the same job with the same data,
headers and durability: Fastify, better-sqlite3, prepared statements, compiled serialisation. ${ANIMALS} animals,
${KEYS} keys, ${CONNECTIONS} keep-alive connections, one process on one core, the load generator (wrk) on the other,
\`synchronous=FULL\`, ours with its log at \`info\` to a file and its metrics on. Medians of ${ROUNDS} rounds.

| work | ours to the floor (least-most) | goal | ours/s | floor/s | p99 ms | floor p99 ms |
| --- | --- | --- | --- | --- | --- | --- |
${rows.map(line).join('\n')}

\`create\` is durable on both sides. The floor commits, and so syncs the disk, once per request; ours once per turn
of the event loop, for all requests of that turn.

The list reaches ${ceiling.toFixed(2)} of the ceiling: \`node:http\` and a constant page of as many bytes, with no key, no
quota and no database.

Ready ${Math.round(readyMs)} ms after the start of \`node\`; ${idleMb} MB resident when ready, ${loadedMb} MB after the load.

Node ${process.version}, ${cpus()[0].model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB.
`;
  writeFileSync(`${root}docs/performance.md`, page);
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  for (const child of running) child.kill('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
}
