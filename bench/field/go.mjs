// The service's contract in Go, built anew for each stage: net/http, and SQLite as the system has it, by cgo.
import { copyFileSync } from 'node:fs';
import { run } from '../children.mjs';
import { compareAnswers } from '../compare.mjs';
import { PATHS } from '../load.mjs';
import { findProgram } from '../machine.mjs';
import { root } from '../settings.mjs';
import { answers, freePort } from '../stage.mjs';

export const GO = 'Go (`net/http`)';
/** What it takes: the compilers, and the headers of SQLite. */
export const NEEDS = ['go', 'gcc', 'sqlite3.h'];

/** How Node tells that it keeps a connection, which Go does without a word. */
const UNSAID = ['connection', 'keep-alive'];

/** @returns what `load` takes */
export async function startGo(stage, { file, keyFile, key, floor }) {
  const [program, database] = [stage.path('petstore-go'), stage.path('go.db')];
  // Its own cache: nothing of it is left behind.
  const env = { ...process.env, GOCACHE: stage.path('go-cache'), GOFLAGS: '', GOPROXY: 'off' };
  await run(findProgram('go'), ['build', '-o', program, '.'], {
    cwd: `${root}bench/field/go`,
    env,
  });
  copyFileSync(file, database);
  const port = await freePort();
  const running = await stage.start({
    name: GO,
    command: program,
    // The address that the floor's links name, for the answers to be the same.
    args: [database, String(port), String(floor.running.port)],
    port,
    isReady: () => answers(`http://127.0.0.1:${port}${PATHS.list}`),
  });
  const server = { running, keyFile };
  await compareAnswers(server, floor, key, UNSAID);
  return server;
}
