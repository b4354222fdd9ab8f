// The petstore program in a clone: builds it first if its sources are newer.
await import('./build-if-stale.mjs');

// npm forwards SIGTERM and SIGINT, and dies of SIGHUP or SIGKILL: a server that outlived it would
// keep its port and its database. The scripts of package.json use `exec`, so that npm is the parent
// of this process.
const PARENT_CHECK_MS = 250;
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS).unref();
}

await import('../dist/src/main.js');
