// The petstore program in a clone: builds it first if its sources are newer. The scripts of
// package.json use `exec`, so that npm is the parent of this process, whose end the program notices.
await import('./build-if-stale.mjs');
await import('../dist/src/main.js');
