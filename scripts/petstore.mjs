// The petstore program from a checkout: built first where need be.
await import('./build-if-stale.mjs');
await import('../dist/src/main.js');
