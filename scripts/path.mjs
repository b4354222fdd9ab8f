/**
 * Prints the files whose code one `POST /v1/pets` with an `Idempotency-Key` runs, in the order of
 * the request, each with the number of lines of its functions that run. Types, decorators and code
 * that runs once do not count.
 *
 *   node scripts/path.mjs
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import 'reflect-metadata';

const ROOT = new URL('../dist/src/', import.meta.url);
/** Background work, such as polling, does not run in each of these requests. */
const TIMES = 8;

// A child process, because the log goes to standard output.
if (process.send === undefined) {
  const measuring = fork(fileURLToPath(import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  measuring.on('message', (line) => console.log(line));
  const [code] = await once(measuring, 'exit');
  process.exit(code ?? 1);
}

const folder = mkdtempSync(join(tmpdir(), 'petstore-path-'));
process.chdir(folder);
Object.assign(process.env, { PORT: '0', METRICS_PORT: '0', LOG_FORMAT: 'json' });

const session = new Session();
session.connect();
const scripts = new Map();
session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url));
await session.post('Debugger.enable');
await session.post('Profiler.enable');

const { startPetStore } = await import(new URL('server.js', ROOT));
const { KeysService } = await import(new URL('keys/keys.service.js', ROOT));
const store = await startPetStore();
const { origin } = store;
const { key } = await store.app.get(KeysService).issue({ name: 'path', plan: 'business' });

let created = 0;
const create = () =>
  new Promise((resolve, reject) => {
    const asked = request(`${origin}/v1/pets`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': `path-${created++}`,
      },
    });
    asked.on('error', reject);
    asked.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)));
    asked.end('{"name":"Rex","categoryId":7,"status":"available"}');
  });

try {
  for (let time = 0; time < 20; time++) await create();
  const functions = await functionsRun();
  let total = 0;
  for (const scriptId of await inOrder(functions)) {
    const lines = await linesOf(scriptId, functions.get(scriptId));
    total += lines;
    process.send(`${String(lines).padStart(5)} ${sourceOf(scriptId)}`);
  }
  process.send(`${String(total).padStart(5)} lines in ${functions.size} files`);
} finally {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

/** The functions of each file that every request runs: the ranges of their text. */
async function functionsRun() {
  const runs = [];
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  for (let time = 0; time < TIMES; time++) {
    await session.post('Profiler.takePreciseCoverage');
    const status = await create();
    if (status !== 201) throw new Error(`The request was answered ${status}`);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    runs.push(new Map(result.filter(({ url }) => url.startsWith(ROOT.href)).map(runOf)));
  }
  await session.post('Profiler.stopPreciseCoverage');
  const [first, ...others] = runs;
  for (const [scriptId, run] of first) {
    const always = run.filter(({ startOffset }) =>
      others.every((other) =>
        other.get(scriptId)?.some((each) => each.startOffset === startOffset),
      ),
    );
    if (always.length > 0) first.set(scriptId, always);
    else first.delete(scriptId);
  }
  return first;
}

/** Without the code that runs when a module is loaded. */
function runOf({ scriptId, functions }) {
  const run = functions.filter(({ ranges }) => ranges[0].count > 0 && ranges[0].startOffset > 0);
  return [scriptId, run.map(({ ranges }) => ranges[0])];
}

/** Counts the lines of functions, without comments and blank lines. */
async function linesOf(scriptId, ranges) {
  const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
  const lines = new Set();
  for (const { startOffset, endOffset } of ranges) {
    const first = scriptSource.slice(0, startOffset).split('\n').length;
    scriptSource
      .slice(startOffset, endOffset)
      .split('\n')
      .forEach((text, index) => /^\s*(?:\/\/|\/?\*|$)/.test(text) || lines.add(first + index));
  }
  return lines.size;
}

function sourceOf(scriptId) {
  const path = fileURLToPath(scripts.get(scriptId));
  return path.replace(/^.*\/dist\/src\//, 'src/').replace(/js$/, 'ts');
}

/**
 * Records the order with breakpoints whose condition is never true but notes that it was evaluated.
 */
async function inOrder(functions) {
  const files = new Set();
  let hasArrived = false;
  globalThis.cameTo = (scriptId) => {
    hasArrived ||= scripts.get(scriptId).includes('/src/http/');
    if (hasArrived) files.add(scriptId);
  };
  for (const [scriptId, ranges] of functions) {
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    for (const { startOffset } of ranges) {
      const before = scriptSource.slice(0, startOffset).split('\n');
      const { locations } = await session.post('Debugger.getPossibleBreakpoints', {
        start: { scriptId, lineNumber: before.length - 1, columnNumber: before.at(-1).length },
        restrictToFunction: true,
      });
      if (locations.length === 0) continue;
      const condition = `cameTo('${scriptId}')`;
      // Several functions may start at one position.
      const set = session.post('Debugger.setBreakpoint', { location: locations[0], condition });
      await set.catch(() => undefined);
    }
  }
  // Background work that is due does not belong to the request.
  await pause(50);
  hasArrived = false;
  files.clear();
  await create();
  return files;
}
