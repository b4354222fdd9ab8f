// What must not grow: a page with its number or the table, the limiter with its limit. Also the start on a
// migrated file and the memory. Run by itself: `node bench/growth.mjs`; it prints, and asserts nothing.
// Metrics are off; the log goes to a file, at info.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ThrottlerStorageService } from '@nestjs/throttler';

const ROUNDS = 5;
const SECONDS = 2;
const SIZES = [1_000, 1_000_000];
const PAGE = 20;

const root = fileURLToPath(new URL('..', import.meta.url));
const program = `${root}dist/src/main.js`;
const directory = mkdtempSync(join(tmpdir(), 'petstore-growth-'));
const running = [];

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function serve(animals) {
  const env = {
    ...process.env,
    DATABASE_URL: `sqlite:${join(directory, `${animals}.db`)}`,
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
    NODE_ENV: 'production',
  };
  const petstore = (...args) =>
    execFileSync(process.execPath, [program, ...args], { env, encoding: 'utf8' });
  petstore('seed', '--pets', String(animals));
  const limits = ['--per-minute', '1000000000', '--per-day', '1000000000'];
  const issue = ['keys', 'issue', '--name', 'growth', '--plan', 'enterprise', ...limits, '--json'];
  const { key } = JSON.parse(petstore(...issue));

  const logFile = join(directory, `${animals}.log`);
  const log = openSync(logFile, 'a');
  const began = performance.now();
  const child = spawn('taskset', ['-c', '0', process.execPath, program, 'serve'], {
    env,
    stdio: ['ignore', log, log],
  });
  running.push(child);
  for (;;) {
    const [, origin] = /"origin":"([^"]+)"/.exec(readFileSync(logFile, 'utf8')) ?? [];
    const readyMs = Math.round(performance.now() - began);
    if (origin !== undefined) return { child, key, origin, readyMs };
    if (readyMs > 20_000) throw new Error(`The service did not start: ${readFileSync(logFile)}`);
    await wait(5);
  }
}

function perSecond({ origin, key }, after) {
  const cursor = after === 0 ? '' : `&cursor=${Buffer.from(`:${after}`).toString('base64url')}`;
  const output = execFileSync(
    'taskset',
    ['-c', '1', 'wrk', '-t1', '-c64', `-d${SECONDS}s`, '-H', `Authorization: Bearer ${key}`].concat(
      `${origin}/v1/pets?limit=${PAGE}${cursor}`,
    ),
    { encoding: 'utf8' },
  );
  if (output.includes('Non-2xx')) throw new Error(output);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)[1]);
}

function residentMb({ child }) {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024);
}

async function growthOfPages() {
  const [small, large] = [await serve(SIZES[0]), await serve(SIZES[1])];
  console.log(`ready: ${small.readyMs} and ${large.readyMs} ms; idle: ${residentMb(large)} MB`);
  const cases = [
    [`page 1 of ${SIZES[0]} animals`, () => perSecond(small, 0)],
    [`page 1 of ${SIZES[1]} animals`, () => perSecond(large, 0)],
    [`page 5,000 of ${SIZES[1]} animals`, () => perSecond(large, 4_999 * PAGE)],
  ];
  const figures = cases.map(() => []);
  for (let round = -1; round < ROUNDS; round++) {
    cases.forEach(([, measure], index) => {
      const figure = measure();
      if (round >= 0) figures[index].push(figure);
    });
  }
  cases.forEach(([name], index) => {
    const ratios = figures[index].map((figure, round) => figures[0][round] / figure);
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(2));
    console.log(`${name}: costs ${median(ratios).toFixed(2)} (${least}-${most}) of the first`);
  });
  console.log(`after the load: ${residentMb(large)} MB`);
}

/** Ours over 200 keys, none past its limit; the stock storage with one key at its limit, where it is slowest. */
async function growthOfLimiter() {
  const { MemoryStore } = await import(`${root}dist/src/rate-limits/memory.store.js`);
  const { Limits } = await import(`${root}dist/src/rate-limits/limits.js`);
  const policy = { afterRejections: 100, firstBanMs: 300_000 };
  for (const limit of [1_000, 10_000, 1_000_000]) {
    const store = new MemoryStore({ now: () => Date.now() }, policy);
    const limits = new Limits(limit, 1_000_000_000, true);
    const ours = await nanoseconds(200, 100_000, (subject) => store.take(`key_${subject}`, limits));
    const stock = new ThrottlerStorageService();
    const take = () => stock.increment('key', 60_000, limit, 0, 'minute');
    let theirs = 'not measured: a million timers and array entries for one key';
    if (limit <= 10_000) {
      for (let hit = 1; hit < limit; hit++) await take();
      theirs = `${await nanoseconds(1, 500, take)} ns`;
    }
    stock.onApplicationShutdown();
    console.log(`limiter at a limit of ${limit}: ours ${ours} ns, stock ${theirs}`);
  }
}

async function nanoseconds(subjects, hits, take) {
  const samples = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    for (let hit = 0; hit < hits; hit++) {
      const taken = take(`${round}-${hit % subjects}`);
      if (taken instanceof Promise) await taken;
    }
    samples.push(((performance.now() - began) / hits) * 1e6);
  }
  return Math.round(median(samples));
}

try {
  for (const tool of ['wrk', 'taskset']) execFileSync('which', [tool]);
  await growthOfLimiter();
  await growthOfPages();
} catch (error) {
  console.error(`${error.message}\n(needs wrk and taskset: apt-get install wrk util-linux)`);
  process.exitCode = 1;
} finally {
  const ended = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ended);
  rmSync(directory, { recursive: true, force: true });
}
