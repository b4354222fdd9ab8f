// The same responses in Go: net/http, and the SQLite of the system by cgo. Built for each run.
import { copyFileSync } from 'node:fs';
import { run } from '../children.mjs';
import { compareAnswers } from '../compare.mjs';
import { PATHS } from '../load.mjs';
import { findProgram } from '../machine.mjs';
import { root } from '../settings.mjs';
import { answers, freePort } from '../stage.mjs';

export const GO = 'Go (`net/http`)';
/** Compilers, and the headers of SQLite. */
export const NEEDS = ['go', 'gcc', 'sqlite3.h'];

/** Headers of a kept connection, which Go does not send. */
const UNSAID = ['connection', 'keep-alive'];

/** @returns the server that `load` takes */
export async function startGo(stage, { file, keyFile, key, floor }) {
  const [program, database] = [stage.path('petstore-go'), stage.path('go.db')];
  // A cache in the temporary directory, which is removed.
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
    // The port in the links of the floor program, so that the responses are equal.
    args: [database, String(port), String(floor.running.port)],
    port,
    isReady: () => answers(`http://127.0.0.1:${port}${PATHS.list}`),
  });
  const server = { running, keyFile };
  await compareAnswers(server, floor, key, UNSAID);
  return server;
}
